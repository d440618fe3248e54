"""Names at a terminal: completed, guessed; and workflows that are waited for and drawn as data."""

from __future__ import annotations

import click
import pytest

from gnomon.cli.naming import dag_names, job_names
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
    context = click.Context(click.Command("show"))
    assert job_names(context, "nightly-n") == ["nightly-names"]
    assert dag_names(context, "nightly-f") == ["nightly-flow"]
    monkeypatch.setenv("GNOMON_SERVER", "http://127.0.0.1:9")
    assert job_names(context, "nightly-n") == []

    assert "Did you mean 'nightly-names'?" in desk("job", "show", "nightly-name", exit_code=4).stderr
    assert "Did you mean 'nightly-flow'?" in desk("dag", "show", "nigthly-flow", exit_code=4).stderr

    assert desk.json("dag", "trigger", "nightly-flow", "--wait")["status"] == "COMPLETED"
    assert desk.json("dag", "graph", "nightly-flow")["edges"] == [["first", "second"]]
    assert desk("dag", "graph", "nightly-flow").stdout.splitlines() == ["first", "└─▶ second"]
