"""`gnomon doctor`: what holds, what does not, and what to do about it."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from gnomon.app.processes.opening import open_store
from gnomon.store.operations.diagnosis import INVARIANTS, SqlDiagnosis
from tests.acceptance.cli.conftest import Desk
from tests.acceptance.nodes import first_key, node
from tests.conftest import MakeDatabase
from tests.postgres import PostgresServer

# Of its tasks, one is with a queue that nobody serves.
FLOW = """
name: flow
tasks:
  - {name: waits, kind: dummy, queue: nobody}
  - {name: after, kind: dummy, depends_on: [waits]}
"""

# Ways to break each invariant, the first word, by hand: what no verb of ours would ever do.
BREAKAGES = {
    "one-place": "DELETE FROM queue",
    "known-runs": "DELETE FROM executions",
    "known-lanes": "UPDATE queue SET lane_id = 999",
    "revisions": "UPDATE jobs SET revision = 99",
    "dead-letters": "INSERT INTO dead_letters (execution_id, tenant_id, job_id, reason, attempts, died_at)"
    " SELECT execution_id, tenant_id, job_id, 'permanent', 1, 0 FROM queue",
    "unique-keys": "INSERT INTO unique_keys SELECT tenant_id, job_id, 'x', randomblob(16) FROM queue"
    " WHERE NOT in_run",
    "run-numbers": "UPDATE dag_runs SET completed = completed + 1",
    "run-ends": "UPDATE dag_runs SET status = 'FAILED', finished_at = 1",
    "run-ends without the execution that the run is": "DELETE FROM queue WHERE in_run;"
    " UPDATE task_instances SET status = 'COMPLETED';"
    " UPDATE dag_runs SET status = 'COMPLETED', finished_at = 1",
    "released-tasks": "DELETE FROM executions WHERE dag_run_id IS NOT NULL",
    "due-times": "UPDATE jobs SET next_run_time = 1",
    "leases": "INSERT INTO leases (execution_id, tenant_id, job_id, revision, lane_id, priority, due, claim,"
    " attempts, crashes, worker, started_at, lease_until, request_id) SELECT execution_id, tenant_id, job_id,"
    " revision, lane_id, priority, due, 1, 0, 0, 'x', 1, 1, randomblob(16) FROM queue",
    "workers": "UPDATE queue SET due = 1",
}


def test_each_invariant_holds_in_a_good_store_and_is_seen_to_be_broken(tmp_path: Path) -> None:
    with node(tmp_path, "up") as up:
        desk = Desk(tmp_path, up.url, first_key(up))
        desk("job", "create", "a", "--kind", "dummy", "--cron", "0 9 * * *")
        desk("job", "trigger", "a", "--in", "1d")
        (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
        desk("dag", "apply", str(tmp_path / "flow.yaml"))
        desk("dag", "trigger", "flow")
        good = desk("doctor").stdout
        assert "WRONG" not in good
        assert good.count("ok ") == len(INVARIANTS) + 2
    assert {way.split()[0] for way in BREAKAGES} == {one.name for one in INVARIANTS}
    whole = (tmp_path / "gnomon.db").read_bytes()
    for way, breakage in BREAKAGES.items():
        (tmp_path / "broken.db").write_bytes(whole)
        with sqlite3.connect(tmp_path / "broken.db", isolation_level=None) as connection:
            connection.execute("UPDATE workers SET last_seen_at = 1")
            connection.executescript(breakage)
        connection.close()
        found = {one["name"]: one for one in desk.json("doctor", "--database", "broken.db", exit_code=1)}
        broken = found[way.split()[0]]
        if way == "workers":
            [stuck] = [one for one in found["runnable"]["found"] if "in queue nobody" in one]
            assert stuck.startswith("1 of kind dummy in queue nobody: No worker is alive. First: ")
        assert not broken["holds"], way
        assert broken["advice"]
        assert broken["found"]


async def test_every_check_runs_on_postgresql(
    postgres_server: PostgresServer, fresh_database: MakeDatabase, tmp_path: Path
) -> None:
    url = await fresh_database(postgres_server)
    desk = Desk(tmp_path, "http://127.0.0.1:1", "gnm_none")
    refused = desk.json("doctor", "--database", url, exit_code=1)
    assert [one["name"] for one in refused] == ["database"]
    desk("db", "migrate", "--database", url)
    store = await open_store(url)
    diagnosis = SqlDiagnosis(store.database)
    for invariant in INVARIANTS:
        assert await diagnosis.look(invariant, now=datetime(2026, 1, 1, tzinfo=UTC)) == []
    await store.close()
