"""Workflows at a terminal, against a real server with a real worker."""

from __future__ import annotations

import json
from typing import Any

from tests.acceptance.cli.conftest import Desk

ETL = """
name: {name}
failure_strategy: FAIL_DOWNSTREAM
tasks:
  - {{name: extract, kind: dummy}}
  - {{name: check, approval: {{}}, depends_on: [extract]}}
  - {{name: load, kind: dummy, depends_on: [check]}}
"""


def written(desk: Desk, name: str) -> str:
    path = desk.folder / f"{name}.yaml"
    path.write_text(ETL.format(name=name), encoding="utf-8")
    return str(path)


def test_a_workflow_is_checked_kept_run_approved_and_drawn(desk: Desk) -> None:
    file = written(desk, "etl-1")
    assert "3 task(s), 2 dependencies, 3 level(s). Fine." in desk("dag", "validate", file).stdout

    made = desk.json("dag", "apply", file)
    assert (made["name"], made["revision"]) == ("etl-1", 1)
    assert desk.json("dag", "apply", file)["revision"] == 1
    assert "etl-1" in desk("dag", "list").stdout
    run = desk.json("dag", "trigger", "etl-1", "--config", '{"day": 1}')["dag_run_id"]
    while desk.json("dag-run", "show", run)["task_runs"][1]["status"] != "HELD":
        pass
    desk("dag-run", "approve", run, "check", "--note", "fine")

    watched = desk("dag-run", "watch", run).stdout.splitlines()
    assert watched[-1] == f"run {run}: COMPLETED"
    assert [one["dag_run_id"] for one in desk.json("dag", "runs", "etl-1")] == [run]
    assert "└─▶ load  COMPLETED" in desk("dag", "graph", "etl-1", "--run", run).stdout
    assert "t0 --> t1" in desk("dag", "graph", "etl-1", "--as", "mermaid").stdout
    assert desk("dag", "graph", "etl-1", "--as", "svg").stdout.startswith("<svg ")


def test_the_past_is_counted_run_and_paused(desk: Desk) -> None:
    text = ETL.format(name="etl-3") + 'cron_expression: "0 2 * * *"\n'
    path = desk.folder / "etl-3.yaml"
    path.write_text(text, encoding="utf-8")
    desk("dag", "apply", str(path))
    span = ("--from", "2025-12-01", "--to", "2025-12-03")

    assert desk.json("backfill", "create", "etl-3", *span, "--dry-run")["count"] == 3
    assert desk.json("backfill", "list", "etl-3") == []
    made = desk.json("backfill", "create", "etl-3", *span, "--concurrency", "2")
    backfill = made["backfill_id"]
    assert (made["total"], made["running"]) == (3, 2)
    assert desk.json("backfill", "pause", backfill)["status"] == "PAUSED"
    shown = desk.json("backfill", "show", backfill)
    assert [run["status"] for run in shown["runs"]] == ["RUNNING", "RUNNING", "WAITING"]
    assert "2025-12-03" in desk("backfill", "show", backfill).stdout
    assert desk.json("backfill", "resume", backfill)["status"] == "RUNNING"
    assert desk.json("backfill", "cancel", backfill)["status"] == "CANCELLED"
    desk("backfill", "show", "nowhere", exit_code=4)


def test_revisions_are_told_apart(desk: Desk) -> None:
    desk("dag", "apply", written(desk, "etl-4"))
    changed = ETL.format(name="etl-4").replace("name: load, kind: dummy", "name: store, kind: dummy")
    desk("dag", "apply", "-", stdin=changed.replace("FAIL_DOWNSTREAM", "PAUSE"))

    lines = desk("dag", "diff", "etl-4").stdout.splitlines()

    assert lines == [
        "revision 1 -> 2",
        '~ failure_strategy: "FAIL_DOWNSTREAM" → "PAUSE"',
        "- task load",
        "+ task store",
    ]
    assert desk.json("dag", "diff", "etl-4", "--from", "2")["tasks_added"] == []


def test_of_a_nested_field_the_part_that_changed_is_shown(desk: Desk) -> None:
    flow = {"name": "etl-9", "config": {"region": "eu", "deep": {"a": 1, "b": 2}}}
    tasks = [{"name": "only", "kind": "dummy", "payload": {"output": {"x": 1, "y": 2}}}]
    desk("dag", "apply", "-", stdin=json.dumps(flow | {"tasks": tasks}))
    tasks[0]["payload"] = {"output": {"x": 1, "y": 3}}
    desk("dag", "apply", "-", stdin=json.dumps(flow | {"config": {"deep": {"a": 1, "b": 2}}, "tasks": tasks}))

    assert desk("dag", "diff", "etl-9").stdout.splitlines()[1:] == [
        '~ config.region: "eu" → nothing',
        "~ task only: payload.output.y: 2 → 3",
    ]


def test_a_run_is_paused_goes_on_and_is_told_of_an_event(desk: Desk) -> None:
    tasks = [{"name": "paid", "event": {"name": "payment", "correlation": "7"}}]
    desk("dag", "apply", "-", stdin=json.dumps({"name": "etl-5", "tasks": tasks}))
    run = desk.json("dag", "trigger", "etl-5")["dag_run_id"]

    assert desk.json("dag-run", "pause", run)["status"] == "PAUSED"
    assert desk.json("dag-run", "resume", run)["status"] == "RUNNING"
    assert desk.json("dag", "send", "payment", "--correlation", "7", "--data", '{"n": 1}') == {"taken_by": 1}
    desk("dag-run", "watch", run)
    desk("dag-run", "retry", run, "paid", exit_code=1)
    desk("dag-run", "skip", run, "nobody", exit_code=2)
    desk("dag", "send", "payment", "--data", "{", exit_code=2)


def test_a_circle_is_refused_without_a_server(desk: Desk) -> None:
    tasks = [
        {"name": "a", "kind": "dummy", "depends_on": ["b"]},
        {"name": "b", "kind": "dummy", "depends_on": ["a"]},
    ]
    refused = desk("dag", "validate", "-", stdin=json.dumps({"name": "x", "tasks": tasks}), exit_code=2)
    assert "a -> b -> a" in refused.stderr
    small: dict[str, Any] = {
        "stdin": json.dumps({"name": "x", "tasks": [{"name": name, "kind": "dummy"} for name in "ab"]})
    }
    assert "2 task(s)" in desk("dag", "validate", "-", **small).stdout
    refused = desk("dag", "validate", "-", exit_code=2, GNOMON_DAG_TASKS_MAX="1", **small)
    assert "2 tasks; at most 1" in refused.stderr
    desk("dag", "show", "nowhere", exit_code=4)


def test_a_run_is_cancelled_and_run_again(desk: Desk) -> None:
    desk("dag", "apply", written(desk, "etl-2"))
    run = desk.json("dag", "trigger", "etl-2")["dag_run_id"]
    while desk.json("dag-run", "show", run)["task_runs"][1]["status"] != "HELD":
        pass

    assert desk.json("dag-run", "cancel", run)["status"] == "CANCELLED"
    assert desk.json("dag-run", "rerun", run)["status"] == "RUNNING"
    desk("dag-run", "approve", run, "check", "--reject")
    assert desk("dag-run", "watch", run, exit_code=1).stdout.splitlines()[-1] == f"run {run}: FAILED"


def test_a_task_with_a_slash_in_its_name_is_approved(desk: Desk) -> None:
    file = desk.folder / "slash.yaml"
    file.write_text("name: slash\ntasks: [{name: a/b, approval: {}}]\n", encoding="utf-8")
    desk("dag", "apply", str(file))
    run = desk.json("dag", "trigger", "slash")["dag_run_id"]

    assert desk.json("dag-run", "approve", run, "a/b")["status"] == "COMPLETED"


def test_a_run_that_is_waited_for_and_fails_says_which_task_failed(desk: Desk) -> None:
    (desk.folder / "failing.yaml").write_text("""
name: failing-flow
tasks:
  - {name: first, kind: dummy, payload: {fail_times: 9, fail_kind: closed}, max_retries: 0}
  - {name: second, kind: dummy, depends_on: [first]}
""")
    desk("dag", "apply", "failing.yaml")
    ended = desk("dag", "trigger", "failing-flow", "--wait", exit_code=1)
    assert "FAILED" in ended.stdout
    [task, more] = ended.stderr.splitlines()
    assert task.endswith("first: FAILED: Attempt 1 fails, as told.")
    assert more.startswith("gnomon: all tasks: gnomon dag-run show ")


def test_a_terminal_without_utf_8_shows_escapes(desk: Desk) -> None:
    (desk.folder / "plain.yaml").write_text("""
name: plain-flow
tasks:
  - {name: first, kind: dummy}
  - {name: größer, kind: dummy, depends_on: [first]}
""")
    desk("dag", "apply", "plain.yaml", PYTHONIOENCODING="ascii")
    drawn = desk("dag", "graph", "plain-flow", PYTHONIOENCODING="ascii").stdout
    assert drawn.endswith("gr\\xf6\\xdfer\n")
