"""What SQLite does with the statements that pages and looks are made of."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gnomon.store.databases import statements
from gnomon.store.databases.sqlite import SqliteDatabase
from gnomon.store.schema.migrations import migrate


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("executions_page_of_job", "executions_job"),
        ("dead_letters_page_of_job", "dead_letters_job"),
        ("jobs_page_by_name", "jobs_live_name"),
        ("jobs_recent", "executions_job"),
        ("dags_recent", "dag_runs_dag"),
        ("run_executions", "executions_run"),
    ],
)
async def test_what_a_job_or_a_run_has_is_found_by_it(tmp_path: Path, statement: str, index: str) -> None:
    database = SqliteDatabase(str(tmp_path / "gnomon.db"))
    await migrate(database, now=datetime(2030, 1, 1, tzinfo=UTC))
    [text] = statements.script(statements.load("sqlite")[statement])
    values = dict.fromkeys(statements.numbered(text)[1])

    plan = [row[3] for row in database.writer.raw.execute(f"EXPLAIN QUERY PLAN {text}", values)]

    assert any(
        f"USING INDEX {index} (" in step or f"USING COVERING INDEX {index} (" in step for step in plan
    ), plan
    await database.close()
