"""Another program looks into the database file of a running process and leaves: nothing is lost by that."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from gnomon.app import open_database, open_store
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.records import JobFilter
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore
from tests.contract.given import NOW, new_job

# As `sqlite3 gnomon.db`, a backup, or `gnomon db check` does: the last one to leave deletes the log.
VISITOR = """
import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM jobs").fetchone()[0])
"""


def visit(file: Path) -> int:
    command = [sys.executable, "-c", VISITOR, str(file)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def names_after_a_crash(file: Path) -> list[str]:
    copies = file.with_name("crashed")
    copies.mkdir()
    for one in file.parent.glob("gnomon.db*"):
        (copies / one.name).write_bytes(one.read_bytes())
    with closing(sqlite3.connect(copies / file.name)) as copy:
        return [name for (name,) in copy.execute("SELECT name FROM jobs ORDER BY name")]


async def test_what_is_written_after_a_visitor_left_survives_a_crash(tmp_path: Path) -> None:
    file = tmp_path / "gnomon.db"
    store = SqlStore(await open_database(str(file)))
    await migrate(store.database, now=datetime.now(UTC))  # type: ignore[arg-type]
    # A process opens its file more than once: for the heartbeat, for long calls, for a probe.
    second = await open_store(str(file))
    await second.close()
    await store.jobs.create([new_job("before")], now=NOW)

    assert visit(file) == 1
    await store.jobs.create([new_job("after")], now=NOW)

    # What a process that starts after a crash would find: the files as they are in this moment.
    assert names_after_a_crash(file) == ["after", "before"]
    assert len((await store.jobs.page(DEFAULT_TENANT, JobFilter(), limit=10)).items) == 2
    await store.close()
