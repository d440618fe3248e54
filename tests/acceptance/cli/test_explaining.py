"""`explain`, `dag-run show` and the metrics tell of work that cannot run, at a real server."""

from __future__ import annotations

import json
from pathlib import Path

from tests.acceptance.cli.conftest import Desk

# Of its tasks, the second one fails for good, and of the third one item.
FLOW = """
name: explained
tasks:
  - {name: good, kind: dummy, payload: {output: {rows: 7}}}
  - {name: bad, kind: nowhere, queue: none}
  - {name: each, kind: dummy, fan_out: {over: "${config.sizes}"}, payload: {output: "${item}"}}
config: {sizes: [1, 2]}
"""


def trigger(desk: Desk, name: str, kind: str, payload: object, *words: str) -> str:
    desk("job", "create", name, "--kind", kind, "--payload", json.dumps(payload), *words)
    run: str = desk.json("job", "trigger", name)["execution_id"]
    return run


def test_a_function_that_is_not_registered_is_the_cause_that_is_told(desk: Desk) -> None:
    run = trigger(desk, "lost", "python", {"function": "reports.daily"})
    while not desk.json("run", "show", run)["finished_attempts"]:
        pass

    head, line = desk("run", "explain", run).stdout.splitlines()

    assert head == f"run {run}"
    assert line.startswith("  no_function: The function 'reports.daily' is not registered on ")
    listed = desk("run", "list", "--job", "lost").stdout
    assert "No function named 'reports.daily' is registered" in listed
    desk("job", "cancel", "lost", "--yes")


def test_a_retry_that_waits_and_what_failed_for_good_tell_their_errors(desk: Desk) -> None:
    script = {"interpreter": "sh", "script": "exit 3"}
    waits = trigger(desk, "waits", "script", script)
    fails = trigger(desk, "fails", "script", script, "--retries", "0")
    desk("run", "wait", fails, exit_code=1)
    while not desk.json("run", "show", waits)["finished_attempts"]:
        pass

    assert "  retry_backoff: Attempt 1 of 3 failed (" in desk("run", "explain", waits).stdout
    assert "  failed: It ended as FAILED after attempt 1 of 1 (" in desk("run", "explain", fails).stdout
    desk("job", "cancel", "waits", "--yes")


def test_tasks_are_shown_with_items_results_and_what_lacks(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    desk("dag", "apply", str(tmp_path / "flow.yaml"), "--allow-unknown-kind")
    run = desk.json("dag", "trigger", "explained")["dag_run_id"]
    while desk.json("dag-run", "show", run)["tasks_completed"] < 2:
        pass

    shown = desk("dag-run", "show", run).stdout
    rows = {line.split()[0]: line for line in shown.splitlines() if line}
    assert '{"rows": 7}' in rows["good"]
    assert rows["each[1]"].endswith(" 2")
    explained = desk("run", "explain", run).stdout
    assert "  tasks_under_way: 1 of its 3 tasks is under way: 'bad'." in explained
    assert "  no_worker: No live worker has the kind 'nowhere', the queue 'none'. Start one" in explained
    assert "  no_worker: No live worker has the kind" in desk("job", "explain", "explained").stdout
    listed = desk("run", "list", "--job", "explained").stdout
    assert "each[1]" in listed
    desk("dag-run", "cancel", run)
