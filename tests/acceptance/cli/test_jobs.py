"""`gnomon job`, `run` and `dlq` against a server that runs them."""

from __future__ import annotations

import json
from typing import Any

from tests.acceptance.cli.conftest import Desk


def test_a_job_from_its_making_to_its_end(desk: Desk) -> None:
    (desk.folder / "life.yaml").write_text("kind: dummy\npayload: {output: 7}\ntags: [filed]\n")
    made = desk.json(
        "job", "create", "life", "-f", "life.yaml", "--cron", "0 9 * * *", "--set", "queue=default"
    )
    assert (made["name"], made["tags"], made["cron_expression"]) == ("life", ["filed"], "0 9 * * *")
    changed = desk.json("job", "update", "life", "--retries", "1", "--if-version", str(made["version"]))
    assert changed["retry_policy"]["max_retries"] == 1
    desk("job", "update", "life", "--priority", "1", "--if-version", "1", exit_code=1)

    fires = desk.json("job", "preview", "life", "--limit", "3")
    assert len(fires) == 3
    jumps = desk("job", "preview", "--cron", "30 2 29 3 *", "--timezone", "Europe/Berlin", "--limit", "2")
    assert "LOCAL" in jumps.stdout

    assert " PAUSED " in desk("job", "pause", "life").stdout
    codes = [reason["code"] for reason in desk.json("job", "explain", "life")]
    assert "paused" in " ".join(codes).lower()
    assert " ACTIVE " in desk("job", "resume", "life").stdout
    assert desk.json("job", "history", "life") == []
    assert desk.json("job", "show", made["job_id"])["name"] == "life"

    assert "--yes" in desk("job", "cancel", "life", exit_code=2).stderr
    assert " CANCELLED " in desk("job", "cancel", "life", "--yes").stdout
    desk("job", "delete", "life", "--yes")
    desk("job", "show", "life", exit_code=4)
    assert desk.json("job", "show", made["job_id"])["status"] == "DELETED"


def test_a_job_with_nothing_to_run_is_refused_and_so_is_a_kind_that_nothing_runs(desk: Desk) -> None:
    nothing = desk("job", "create", "nothing", exit_code=2)
    assert "kind: is missing: say what shall run, with --payload, --kind or --file." in nothing.stderr
    desk("job", "create", "nothing", "--cron", "0 9 * * *", exit_code=2)
    unknown = desk("job", "create", "slip", "--kind", "dumy", exit_code=2)
    assert "Did you mean `dummy`?" in unknown.stderr
    made = desk.json("job", "create", "slip", "--kind", "DUMY", "--allow-unknown-kind")
    assert made["kind"] == "dumy"
    desk("job", "update", "slip", "--kind", "dumyy", exit_code=2)
    assert desk.json("job", "update", "slip", "--kind", "Dummy")["kind"] == "dummy"


def test_jobs_of_a_file_are_of_known_kinds_unless_it_is_allowed(desk: Desk) -> None:
    file = json.dumps({"owner": "kinds", "jobs": [{"name": "odd", "kind": "dumy"}]})
    refused = desk("apply", "-f", "-", "--yes", stdin=file, exit_code=2)
    assert "Did you mean `dummy`?" in refused.stderr
    desk("apply", "-f", "-", "--yes", "--allow-unknown-kind", stdin=file)
    other = file.replace("dumy", "dumyy")
    desk("apply", "-f", "-", "--yes", stdin=other, exit_code=2)
    desk("apply", "-f", "-", "--yes", "--allow-unknown-kind", stdin=other)
    assert desk.json("job", "show", "odd")["kind"] == "dumyy"


def test_a_run_is_waited_for_and_read(desk: Desk) -> None:
    script = {"interpreter": "sh", "script": "echo hello; echo there"}
    desk("job", "create", "talker", "--kind", "script", "--payload", json.dumps(script))
    run = desk.json("job", "trigger", "talker", "--wait")
    assert run["status"] == "COMPLETED"
    told = desk("run", "logs", run["execution_id"], "-f").stdout.splitlines()
    assert [line.split()[-1] for line in told if line.split()[-1] in ("hello", "there")] == ["hello", "there"]
    lines = desk("run", "logs", run["execution_id"], "-o", "json").stdout.splitlines()
    assert "hello" in [json.loads(line)["message"] for line in lines]
    shown = desk.json("run", "show", run["execution_id"])
    assert [one["outcome"] for one in shown["finished_attempts"]] == ["COMPLETED"]
    again = desk.json("run", "retry", run["execution_id"])
    assert again["execution_id"] != run["execution_id"]
    desk("run", "wait", again["execution_id"], "--timeout", "1m")
    assert len(desk.json("run", "list", "--job", "talker")) == 2


def test_a_run_that_does_not_end_well_is_told_by_the_exit_code(desk: Desk) -> None:
    later = _trigger(desk, "later", {"output": 1}, "--in", "1d")
    assert desk("run", "wait", later, "--timeout", "0", exit_code=3).stdout == ""
    assert [one["code"] for one in desk.json("run", "explain", later)]
    assert desk.json("run", "cancel", later)["status"] == "CANCELLED"
    desk("run", "wait", later, exit_code=1)


def test_dead_letters_are_run_again_or_forgotten(desk: Desk) -> None:
    script = {"interpreter": "sh", "script": "exit 3"}
    desk("job", "create", "dies", "--kind", "script", "--payload", json.dumps(script), "--retries", "0")
    run = desk.json("job", "trigger", "dies", "--wait", exit_code=1)
    assert run["status"] == "FAILED"
    [letter] = desk.json("dlq", "list", "--job", "dies")
    assert letter["execution_id"] == run["execution_id"]
    assert desk.json("dlq", "show", run["execution_id"])["reason"] == letter["reason"]
    desk("dlq", "redrive", exit_code=2)
    [new] = desk.json("dlq", "redrive", "--job", "dies")
    desk("run", "wait", new["execution_id"], exit_code=1)
    desk("dlq", "purge", "--job", "dies", exit_code=2)
    assert set(desk.json("dlq", "purge", "--job", "dies", "--yes")) == {
        run["execution_id"],
        new["execution_id"],
    }
    assert desk.json("dlq", "list", "--job", "dies") == []


def test_workers_and_keys(desk: Desk) -> None:
    [worker] = [one for one in desk.json("workers", "list") if one["is_live"]]
    assert desk.json("workers", "show", worker["worker_id"])["capacity"] == worker["capacity"]

    made = desk.json("key", "create", "reader", "--scope", "read")
    assert desk.json("job", "list", GNOMON_KEY=made["key"]) is not None
    desk("job", "create", "not mine", "--kind", "dummy", GNOMON_KEY=made["key"], exit_code=6)
    listed = desk("key", "list").stdout
    assert made["key_id"] in listed
    assert made["key"] not in listed
    desk("key", "revoke", made["key_id"], "--yes")
    desk("job", "list", GNOMON_KEY=made["key"], exit_code=6)


def _trigger(desk: Desk, name: str, payload: Any, *words: str) -> str:
    desk("job", "create", name, "--kind", "dummy", "--payload", json.dumps(payload))
    run: str = desk.json("job", "trigger", name, *words)["execution_id"]
    return run
