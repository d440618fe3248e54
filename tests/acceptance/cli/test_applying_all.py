"""`gnomon apply` and `gnomon export` of workflows and calendars beside jobs; `gnomon calendar`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.cli.files.plan import Manifest, perform, plan_of
from gnomon.cli.files.steps import Action
from gnomon.cli.output.terminal import yaml_text
from gnomon.client.remote.server import Server
from gnomon.client.remote.wire import ServerAddress
from gnomon.errors import ServerRefused
from tests.acceptance.cli.conftest import Desk
from tests.acceptance.nodes import first_key, node

NIGHTLY = {"type": "cron", "cron": "0 2 * * *", "timezone": "Europe/Berlin", "calendar": "all-holidays"}
LOAD = {"name": "load", "kind": "dummy", "payload": {"output": 1}}
WORKFLOW = {"name": "all-nightly", "schedule": NIGHTLY, "tags": ["night"], "tasks": [LOAD]}
OUTER = {"name": "all-outer", "tasks": [{"name": "whole", "dag": "all-nightly"}]}
JOB = {
    "name": "all-mail",
    "kind": "dummy",
    "cron": "0 9 * * *",
    "calendar": "all-holidays",
    "dependencies": ["all-nightly"],
}
HOLIDAYS = {"name": "all-holidays", "dates": ["2030-01-01", "2030-12-25"]}
FILE = {"owner": "all", "jobs": [JOB], "workflows": [OUTER, WORKFLOW], "calendars": [HOLIDAYS]}


def write(desk: Desk, document: Any) -> None:
    (desk.folder / "all.yaml").write_text(yaml_text(document))


def plan(desk: Desk, *words: str) -> dict[str, dict[str, Any]]:
    steps = desk.json("apply", "-f", "all.yaml", *words)
    return {step["name"]: step for step in steps if step["action"] != "keep"}


def test_what_is_exported_is_applied_to_an_empty_server_and_exported_as_the_same(
    desk: Desk, tmp_path: Path
) -> None:
    write(desk, FILE)
    shown = desk("apply", "-f", "all.yaml", "--dry-run").stdout
    lines = [line for line in shown.splitlines() if line.startswith("+")]
    # A workflow after the calendar that it names and the workflow that it runs; jobs last.
    assert lines == [
        "+ calendar all-holidays",
        "+ workflow all-nightly",
        "+ workflow all-outer",
        "+ all-mail",
    ]
    assert "    + excludes 2030-12-25" in shown
    desk("apply", "-f", "all.yaml", "--yes")
    assert plan(desk) == {}

    exported = desk("export", "--owner", "all", "--tag", "applied:all").stdout
    assert "applied:" not in exported
    with node(tmp_path, "up") as up:
        empty = Desk(tmp_path, up.url, first_key(up))
        empty("apply", "-f", "-", "--yes", stdin=exported)
        assert empty("export", "--owner", "all").stdout == exported


def test_a_plan_tells_which_fields_tasks_and_dates_change_and_prunes_its_own_workflows(desk: Desk) -> None:
    document = json.loads(json.dumps(FILE | {"owner": "plan"}).replace("all-", "plan-"))
    write(desk, document)
    desk("apply", "-f", "all.yaml", "--yes")

    [outer, nightly] = document["workflows"]
    nightly["tasks"] = [LOAD | {"payload": {"output": 2}}, {"name": "tell", "kind": "dummy"}]
    nightly["schedule"] = nightly["schedule"] | {"cron": "0 3 * * *"}
    document["workflows"] = [nightly]
    document["calendars"][0]["dates"] = ["2030-01-01", "2031-01-01"]
    write(desk, document)
    shown = desk("apply", "-f", "all.yaml", "--dry-run").stdout
    assert "~ calendar plan-holidays\n    - excludes 2030-12-25\n    + excludes 2031-01-01\n" in shown
    assert '    schedule.cron: "0 2 * * *" → "0 3 * * *"\n' in shown
    assert "    tasks.load.payload.output: 1 → 2\n" in shown
    assert "    tasks.tell: nothing → " in shown
    assert f"- workflow {outer['name']}\n" in shown

    made = plan(desk, "--yes")
    assert {name: step["action"] for name, step in made.items()} == {
        "plan-holidays": "change",
        "plan-nightly": "change",
        "plan-outer": "prune",
    }
    assert made["plan-nightly"]["fires_added"]
    assert made["plan-nightly"]["fires_removed"]
    assert desk.json("calendar", "show", "plan-holidays")["dates"] == ["2030-01-01", "2031-01-01"]
    assert plan(desk) == {}

    write(desk, document | {"owner": "another"})
    assert "--adopt" in desk("apply", "-f", "all.yaml", "--yes", exit_code=2).stderr
    write(desk, {"owner": "plan", "jobs": [], "workflows": []})
    assert plan(desk, "--yes").keys() == {"plan-mail", "plan-nightly"}
    assert desk.json("calendar", "show", "plan-holidays")["version"] == 2  # No file owns a calendar.


def test_a_workflow_that_changed_after_the_plan_was_made_is_not_pruned(desk: Desk) -> None:
    write(desk, {"owner": "seen", "workflows": [{"name": "seen", "tasks": [LOAD]}]})
    desk("apply", "-f", "all.yaml", "--yes")

    with Server(ServerAddress(desk.url, desk.key)) as server:
        steps = plan_of(server, Manifest("seen", []), adopt=False, prune=True)
        assert [(step.action, step.name) for step in steps] == [(Action.PRUNE, "seen")]
        desk("dag", "pause", "seen")
        with pytest.raises(ServerRefused, match="version"):
            perform(server, steps[0])
    assert desk.json("dag", "show", "seen")["status"] == "PAUSED"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("owner: x\nworkflows: 1", "workflows"),
        ("owner: x\nworkflows: [{name: a, tasks: []}]", "'a'"),
        ("owner: x\nworkflows: [{name: a, tasks: [{name: t, kind: dummy, moon: 1}]}]", "moon"),
        ("owner: x\njobs: [{name: a}]\nworkflows: [{name: a, tasks: []}]", "the name of a job"),
        (
            (
                "owner: x\nworkflows: [{name: a, tasks: [{name: t, dag: b}]},"
                " {name: b, tasks: [{name: t, dag: a}]}]"
            ),
            "wait for each other",
        ),
        ("owner: x\ncalendars: [{name: a, dates: ['2030-02-30']}]", "calendars[0].dates[0]"),
        ("owner: x\ncalendars: [{name: a, dates: [], moon: 1}]", "moon"),
        ("owner: x\njobs: [{name: a, tags: 1}]", "tags"),
        ("owner: x", "workflows"),
    ],
)
def test_a_section_that_makes_no_sense_is_refused_before_anything_changes(
    desk: Desk, text: str, word: str
) -> None:
    assert word in desk("apply", "-f", "-", "--yes", stdin=text, exit_code=2).stderr


def test_a_change_that_the_server_refuses_is_named_with_what_was_done_before_it(desk: Desk) -> None:
    wrong = {"name": "late-wrong", "tasks": [LOAD | {"kind": "dummmy"}]}
    write(desk, {"owner": "late", "workflows": [WORKFLOW | {"name": "late-right", "schedule": {}}, wrong]})
    refused = desk("apply", "-f", "all.yaml", "--yes", exit_code=2).stderr
    assert "dummmy" in refused
    assert "(workflow late-wrong; 1 of 2 changes were made before it)" in " ".join(refused.split())


def test_calendars_are_set_listed_and_deleted_at_a_terminal(desk: Desk) -> None:
    (desk.folder / "days.txt").write_text("# Public holidays\n2030-12-25\n\n2030-01-01 # New Year\n")
    made = desk.json("calendar", "set", "terminal", "-f", "days.txt")
    assert made["dates"] == ["2030-01-01", "2030-12-25"]
    assert "dates[0]" in desk("calendar", "set", "terminal", "tomorrow", exit_code=2).stderr
    assert "give dates" in desk("calendar", "set", "terminal", exit_code=2).stderr
    [listed] = [one for one in desk.json("calendar", "list") if one["name"] == "terminal"]
    assert (listed["date_count"], listed["version"]) == (2, 1)
    desk(
        "job",
        "create",
        "calendar-user",
        "--kind",
        "dummy",
        "--cron",
        "@daily",
        "--set",
        'calendar="terminal"',
    )
    refused = desk("calendar", "delete", "terminal", "--yes", exit_code=1).stderr
    assert "'calendar-user'" in refused
    desk("job", "delete", "calendar-user", "--yes")
    desk("calendar", "delete", "terminal", "--yes")
    desk("calendar", "show", "terminal", exit_code=4)
