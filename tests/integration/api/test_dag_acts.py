"""What people do to runs and workflows, with odd words: each gets a clear answer, and nothing has changed."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from gnomon.core.lifecycle import Failed, Succeeded
from tests.integration.api.conftest import Office

GATE: dict[str, Any] = {"name": "gate", "approval": {}}
NUL, SURROGATE = "a\0b", "\\ud800"


async def made(office: Office, *tasks: dict[str, Any], name: str = "x", **more: Any) -> str:
    answer = await office.http.post("/v1/dags", json={"name": name, "tasks": list(tasks), **more})
    assert answer.status_code == 201, answer.text
    dag_id: str = answer.json()["dag_id"]
    return dag_id


async def begun(office: Office, *tasks: dict[str, Any], **more: Any) -> str:
    """The path of a run."""
    answer = await office.http.post(f"/v1/dags/{await made(office, *tasks, **more)}/trigger")
    assert answer.status_code == 201, answer.text
    return f"/v1/dag-runs/{answer.json()['dag_run_id']}"


async def posted(office: Office, path: str, text: str) -> tuple[int, str, str]:
    """The status, the code and the field that the answer names."""
    answer = await office.http.post(path, content=text.encode())
    error = answer.json().get("error", {"code": "none", "details": {}})
    return answer.status_code, error["code"], error["details"].get("field", "none")


@pytest.mark.parametrize("act", ["approve", "reject"])
@pytest.mark.parametrize(
    ("note", "status"),
    [('"a\\u0000b"', 400), ('"\\ud800"', 400), (f'"{"x" * 300_000}"', 413)],
    ids=["nul", "surrogate", "long"],
)
async def test_a_note_that_cannot_be_kept_is_refused_and_the_task_waits_on(
    office: Office, act: str, note: str, status: int
) -> None:
    run = await begun(office, GATE, {"name": "next", "kind": "echo", "depends_on": ["gate"]})

    found = await posted(office, f"{run}/tasks/gate/{act}", f'{{"note": {note}}}')

    assert (found[0], found[2]) == (status, "note")
    tasks = (await office.http.get(f"{run}/tasks")).json()["tasks"]
    assert [task["status"] for task in tasks] == ["HELD", "WAITING"]
    assert (await office.http.post(f"{run}/tasks/gate/approve")).status_code == 200
    [leased] = await office.claim(kinds=["echo"])
    await office.end(leased, Succeeded())
    assert (await office.http.get(run)).json()["status"] == "COMPLETED"
