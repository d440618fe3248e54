"""What the terminal tells of workflows and their runs: which revision, why it failed, what it waits for."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.acceptance.cli.conftest import Desk

FAILS = {"name": "f", "kind": "dummy", "payload": {"fail_times": 9}, "max_retries": 0}


def applied(desk: Desk, name: str, *tasks: dict[str, Any], **more: Any) -> Any:
    return desk.json("dag", "apply", "-", stdin=json.dumps({"name": name, "tasks": tasks, **more}))


def dummy(name: str, *waits_for: str) -> dict[str, Any]:
    return {"name": name, "kind": "dummy", "depends_on": [*waits_for]}


def triggered(desk: Desk, name: str) -> str:
    run: str = desk.json("dag", "trigger", name)["dag_run_id"]
    return run


def test_a_run_is_drawn_as_it_was_when_it_began(desk: Desk) -> None:
    applied(desk, "look-1", dummy("a"), dummy("b", "a"))
    run = triggered(desk, "look-1")
    desk("dag-run", "watch", run)
    applied(desk, "look-1", dummy("a"), dummy("c", "a"))
    applied(desk, "look-other", dummy("a"))

    drawn = desk("dag", "graph", "look-1", "--run", run).stdout
    assert drawn.splitlines() == ["a  COMPLETED", "└─▶ b  COMPLETED"]
    assert "c" not in drawn.split()
    refused = desk("dag", "graph", "look-other", "--run", run, exit_code=2)
    assert "is a run of another workflow" in refused.stderr
    assert "c" in desk("dag", "graph", "look-1").stdout.split()


def test_apply_says_what_it_did_without_the_definition(desk: Desk) -> None:
    first = applied(desk, "look-2", dummy("a"))
    assert first["outcome"] == "created"
    assert "definition" not in first
    assert applied(desk, "look-2", dummy("a"))["outcome"] == "unchanged"
    again = applied(desk, "look-2", dummy("a"), dummy("b"))
    assert (again["outcome"], again["revision"]) == ("changed", 2)

    revisions = desk.json("dag", "revisions", "look-2")
    assert [(one["revision"], one["tasks"]) for one in revisions] == [(2, 2), (1, 1)]


def test_a_workflow_is_paused_goes_on_and_is_deleted(desk: Desk) -> None:
    applied(desk, "look-3", dummy("a"), tags=["look"])
    assert [one["name"] for one in desk.json("dag", "list", "--tag", "look")] == ["look-3"]
    assert desk.json("dag", "pause", "look-3")["status"] == "PAUSED"
    assert desk.json("dag", "resume", "look-3")["status"] == "ACTIVE"
    desk("dag", "delete", "look-3", exit_code=2)
    assert desk.json("dag", "delete", "look-3", "--yes")["status"] == "DELETED"
    desk("dag", "show", "look-3", exit_code=4)


def test_a_failed_task_says_why(desk: Desk) -> None:
    applied(desk, "look-4", FAILS, dummy("g", "f"))
    run = triggered(desk, "look-4")

    watched = desk("dag-run", "watch", run, exit_code=1).stdout.splitlines()
    assert any("f: FAILED: Attempt 1 fails, as told." in line for line in watched), watched
    assert "Attempt 1 fails, as told." in desk("dag-run", "show", run).stdout


def test_a_watch_says_what_the_run_waits_for(desk: Desk) -> None:
    waits = {"name": "paid for", "event": {"name": "payment", "correlation": "7"}}
    applied(desk, "look-5", FAILS, waits, {"name": "release", "approval": {}}, failure_strategy="PAUSE")
    run = triggered(desk, "look-5")
    decide = f"gnomon dag-run retry|skip|succeed|fail {run} f"
    wanted = {
        f"gnomon: f failed, and the run waits for your decision: {decide}",
        "gnomon: paid for waits for an event: gnomon dag send payment --correlation 7",
        f"gnomon: release waits for an approval: gnomon dag-run approve {run} release",
    }
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "gnomon.cli",
            "dag-run",
            "watch",
            run,
            "--server",
            desk.url,
            "--key",
            desk.key,
        ],
        cwd=desk.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as watch:
        assert watch.stderr is not None
        while wanted:
            wanted.discard(watch.stderr.readline().rstrip("\n"))
        desk("dag-run", "succeed", run, "f", "--result", '{"rows": 7}')
        desk("dag", "send", "payment", "--correlation", "7")
        desk("dag-run", "approve", run, "release")
        out, _ = watch.communicate(timeout=60)
    assert out.splitlines()[-1] == f"run {run}: COMPLETED"
    [f, *_] = desk.json("dag-run", "show", run)["task_runs"]
    assert (f["status"], f["result"], f["error_message"]) == ("COMPLETED", {"rows": 7}, None)


def test_a_task_that_halted_its_run_is_let_fail(desk: Desk) -> None:
    applied(desk, "look-6", FAILS, dummy("g"), failure_strategy="PAUSE")
    run = triggered(desk, "look-6")
    while desk.json("dag-run", "show", run)["task_runs"][0]["status"] != "HALTED":
        pass
    desk("dag-run", "fail", run, "f")
    assert desk("dag-run", "watch", run, exit_code=1).stdout.splitlines()[-1] == f"run {run}: FAILED"


def test_names_do_not_reach_the_terminal_as_commands(desk: Desk) -> None:
    applied(desk, "look-7", dummy("\x1b]0;owned\x07"))
    run = triggered(desk, "look-7")
    shown = [
        desk("dag-run", "watch", run),
        desk("dag-run", "show", run),
        desk("dag", "show", "look-7"),
        desk("dag", "graph", "look-7", "--run", run),
        desk("dag", "graph", "look-7", "--as", "mermaid"),
        desk("dag", "graph", "look-7", "--as", "svg"),
    ]
    assert not any("\x1b" in done.stdout or "\x07" in done.stdout for done in shown)


def test_what_a_server_would_refuse_is_not_called_fine(desk: Desk) -> None:
    tasks: list[dict[str, Any]] = [{"name": "a", "kind": "python", "payload": {}}]
    refused = desk("dag", "validate", "-", stdin=json.dumps({"name": "x", "tasks": tasks}), exit_code=2)
    assert "tasks.a.payload.function" in refused.stderr
    tasks = [{"name": "a", "kind": "of-nobody"}]
    flow = json.dumps({"name": "x", "tasks": tasks})
    unknown = desk("dag", "validate", "-", stdin=flow, exit_code=2)
    assert "tasks.a.kind: no handler here and no live worker runs 'of-nobody'" in unknown.stderr
    done = desk("dag", "validate", "-", "--allow-unknown-kind", stdin=flow)
    assert "Fine." in done.stdout
    assert "payloads of of-nobody" in done.stderr


def test_yaml_that_holds_itself_or_a_key_twice_is_refused(desk: Desk) -> None:
    circle = "name: x\ntasks: &t\n  - {name: a, kind: dummy, payload: {d: *t}}\n"
    for command in ("validate", "apply"):
        assert "alias of itself" in desk("dag", command, "-", stdin=circle, exit_code=2).stderr
        twice = desk("dag", command, "-", stdin="name: x\nname: y\ntasks: []\n", exit_code=2)
        assert "the key 'name' is there twice" in twice.stderr
