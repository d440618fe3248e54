"""Names at a terminal: completed, guessed; and workflows that are waited for and drawn as data."""

from __future__ import annotations

import pytest
import typer
from typer.core import TyperCommand

from gnomon.cli.session.names import dag_names, job_names
from tests.acceptance.cli.completion import offered
from tests.acceptance.cli.conftest import Desk

FLOW = """
name: nightly-flow
tasks:
  - {name: first, kind: dummy, payload: {output: 1}}
  - {name: second, kind: dummy, payload: {output: 2}, depends_on: [first]}
"""


def test_names_are_completed_and_guessed_and_a_workflow_is_waited_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk("job", "create", "nightly-names", "--kind", "dummy", "--payload", "{}")
    (desk.folder / "flow.yaml").write_text(FLOW)
    desk("dag", "apply", "flow.yaml")

    for name, value in {"SERVER": desk.url, "KEY": desk.key}.items():
        monkeypatch.setenv(f"GNOMON_{name}", value)
    context = typer.Context(TyperCommand("show"))
    assert job_names(context, "nightly-n") == ["nightly-names"]
    assert dag_names(context, "nightly-f") == ["nightly-flow"]
    monkeypatch.setenv("GNOMON_SERVER", "http://127.0.0.1:9")
    assert job_names(context, "nightly-n") == []

    assert "Did you mean 'nightly-names'?" in desk("job", "show", "nightly-name", exit_code=4).stderr
    assert "Did you mean 'nightly-flow'?" in desk("dag", "show", "nigthly-flow", exit_code=4).stderr

    assert desk.json("dag", "trigger", "nightly-flow", "--wait")["status"] == "COMPLETED"
    assert desk.json("dag", "graph", "nightly-flow")["edges"] == [["first", "second"]]
    assert desk("dag", "graph", "nightly-flow").stdout.splitlines() == ["first", "└─▶ second"]


def test_a_name_that_a_shell_would_not_take_as_it_is_is_never_proposed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "quirky-$(id)",
        "quirky-`id`",
        "quirky;id",
        "quirky-*",
        "quirky one",
        "quirky'",
        "quirky\x1b[31m",
        "quirky:ünï",
    ):
        desk("job", "create", name, "--kind", "dummy", "--payload", "{}")
    for name, value in {"SERVER": desk.url, "KEY": desk.key}.items():
        monkeypatch.setenv(f"GNOMON_{name}", value)
    context = typer.Context(TyperCommand("show"))
    assert job_names(context, "quirky") == ["quirky:ünï"]
    assert job_names(context, "quirky-$") == []


@pytest.mark.thorough("A shell completes the names of ten more places, and more misspellings get a guess")
def test_whatever_is_named_is_completed_and_calendars_and_workers_are_guessed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = FLOW.replace("nightly-flow", "whatever-flow")
    (desk.folder / "whatever.yaml").write_text(flow)
    applied = desk("dag", "apply", "whatever.yaml").stdout
    assert "\ntasks            2\n" in applied
    assert "task_id" not in applied
    desk("job", "create", "whatever-job", "--kind", "dummy", "--payload", "{}")
    desk("calendar", "set", "whatever-days", "2030-01-01")
    run = desk.json("dag", "trigger", "whatever-flow", "--wait")["dag_run_id"]
    worker = desk.json("workers", "list")[-1]["worker_id"]  # The last by name: no other begins with it.

    for name, value in {"SERVER": desk.url, "KEY": desk.key}.items():
        monkeypatch.setenv(f"GNOMON_{name}", value)
    for words, incomplete, proposed in (
        (["run", "list", "--job"], "whatever-", ["whatever-job", "whatever-flow"]),
        (["dlq", "list", "--job"], "whatever-", ["whatever-job", "whatever-flow"]),
        (["job", "create", "x", "--after"], "whatever-", ["whatever-job"]),
        (["job", "pause"], "whatever-", ["whatever-job"]),
        (["job", "preview"], "whatever-", ["whatever-job", "whatever-flow"]),
        (["job", "explain"], "whatever-", ["whatever-job", "whatever-flow"]),
        (["dag-run", "show"], run[:30], [run]),
        (["dag", "graph", "whatever-flow", "--run"], run[:30], [run]),
        (["calendar", "show"], "whatever-", ["whatever-days"]),
        (["workers", "drain"], worker, [worker]),
    ):
        assert offered("gnomon", *words, incomplete) == set(proposed), words

    for words, guess in (
        (["calendar", "show", "whatever-day"], "whatever-days"),
        (["calendar", "delete", "whatever-day", "--yes"], "whatever-days"),
        (["workers", "show", f"{worker}x"], worker),
    ):
        assert f"Did you mean {guess!r}?" in desk(*words, exit_code=4).stderr


def test_a_mistyped_name_behind_an_option_gets_a_guess_among_jobs_and_workflows(desk: Desk) -> None:
    desk("job", "create", "optional-job", "--kind", "dummy", "--payload", "{}")
    (desk.folder / "optional.yaml").write_text(FLOW.replace("nightly-flow", "optional-flow"))
    desk("dag", "apply", "optional.yaml")

    for words, guess in (
        (["run", "list", "--job", "optional-fllow"], "optional-flow"),
        (["run", "list", "--job", "optional-jbo"], "optional-job"),
        (["dlq", "list", "--job", "optional-fllow"], "optional-flow"),
        (["job", "create", "after-it", "--kind", "dummy", "--after", "optional-jbo"], "optional-job"),
        (["job", "update", "optional-job", "--after", "optional-jbo"], "optional-job"),
    ):
        assert f"Did you mean {guess!r}?" in desk(*words, exit_code=4).stderr, words
