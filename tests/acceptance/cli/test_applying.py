"""`gnomon apply` and `gnomon export`: a file of jobs, its plan, and what it leaves alone."""

from __future__ import annotations

from typing import Any

from gnomon.cli.output.terminal import yaml_text
from tests.acceptance.cli.conftest import Desk

REPORT = {"name": "apply-report", "kind": "dummy", "cron": "0 9 * * *", "timezone": "Europe/Berlin"}
MAIL = {"name": "apply-mail", "kind": "dummy", "dependencies": ["apply-report"], "tags": ["mail"]}
TICK = {"name": "apply-tick", "kind": "dummy", "interval_seconds": 3600}
LATER = {"name": "apply-later", "kind": "dummy", "delay_seconds": 86_400}


def write(desk: Desk, *jobs: Any, owner: str = "shop") -> None:
    (desk.folder / "jobs.yaml").write_text(yaml_text({"owner": owner, "jobs": list(jobs)}))


def plan(desk: Desk, *words: str) -> dict[str, Any]:
    steps = desk.json("apply", "-f", "jobs.yaml", *words)
    return {step["name"]: step for step in steps if step["action"] != "keep"}


def test_a_file_is_applied_changed_and_pruned_and_only_its_own_jobs_are(desk: Desk) -> None:
    desk("job", "create", "apply-foreign", "--kind", "dummy", "--tag", "mail")
    write(desk, MAIL, REPORT, TICK, LATER)  # MAIL waits for REPORT, so that one is made first.
    assert "--yes" in desk("apply", "-f", "jobs.yaml", exit_code=2).stderr
    shown = desk("apply", "-f", "jobs.yaml", "--dry-run").stdout
    assert "+ apply-report\n    + fires " in shown
    assert "4 to create, 0 to change, 0 to prune, 0 to keep." in shown
    assert not [job for job in desk.json("job", "list") if job["name"] == "apply-report"]

    made = plan(desk, "--yes")
    assert {step["action"] for step in made.values()} == {"create"}
    assert plan(desk) == {}  # Again changes nothing, so there is nothing to ask.

    write(desk, REPORT | {"cron": "0 10 * * *", "retry_policy": {"max_attempts": 1}}, TICK, LATER)
    changed = plan(desk, "--yes")
    assert changed["apply-report"]["changes"].keys() == {"schedule", "retry_policy"}
    assert len(changed["apply-report"]["fires_removed"]) >= 4
    assert len(changed["apply-report"]["fires_added"]) >= 4
    assert changed["apply-mail"]["action"] == "prune"
    assert desk.json("job", "show", "apply-report")["retry_policy"]["max_attempts"] == 1
    desk("job", "show", "apply-mail", exit_code=4)

    write(desk, REPORT, TICK, LATER)  # What the file no longer says is as the default says.
    plan(desk, "--yes")
    assert desk.json("job", "show", "apply-report")["retry_policy"]["max_attempts"] == 3

    write(desk, REPORT, TICK, LATER, {"name": "apply-foreign", "kind": "dummy"})
    assert "--adopt" in desk("apply", "-f", "jobs.yaml", "--yes", exit_code=2).stderr
    write(desk, REPORT, owner="somebody else")
    assert "--adopt" in desk("apply", "-f", "jobs.yaml", "--yes", exit_code=2).stderr

    exported = desk("export", "--owner", "shop", "--tag", "applied:shop").stdout
    assert "apply-report" in exported
    assert "max_attempts" not in exported
    (desk.folder / "jobs.yaml").write_text(exported)
    assert plan(desk, "--dry-run").keys() <= {"apply-later"}  # A delay comes back as the time it ends at.


def test_a_file_that_makes_no_sense_changes_nothing(desk: Desk) -> None:
    for text, word in [
        ("jobs: 1", "owner"),
        ("owner: x\njobs: []\nmore: 1", "more"),
        ("owner: x\njobs: [{name: a}, {name: a}]", "twice"),
        (
            "owner: x\njobs: [{name: a, dependencies: [b]}, {name: b, dependencies: [a]}]",
            "wait for each other",
        ),
        ("owner: x\njobs: [{name: a, cron: nonsense}]", "'a'"),
        ("owner: x\njobs: [{name: a, moon: 1}]", "moon"),
        ("owner: x\njobs: [{name: a, cron: '0 9 * * *'}]", "kind: is missing: say what shall run"),
        ("{", "YAML"),
    ]:
        assert word in desk("apply", "-f", "-", "--yes", stdin=text, exit_code=2).stderr
