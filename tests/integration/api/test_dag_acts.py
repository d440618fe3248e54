"""What people do to runs and workflows, with odd words: each gets a clear answer, and nothing has changed."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from gnomon.core.execution import Failure
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


HALF = "x" * 200_000


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "once"}], ids=["plain", "keyed"])
@pytest.mark.parametrize("more", [{}, {"schedule": {"overlap_policy": "queue"}}], ids=["free", "queue"])
async def test_a_configuration_that_is_too_large_together_is_refused(
    office: Office, headers: dict[str, str], more: dict[str, Any]
) -> None:
    path = f"/v1/dags/{await made(office, {'name': 'a', 'kind': 'echo'}, config={'old': HALF}, **more)}"

    answer = await office.http.post(f"{path}/trigger", json={"config": {"new": HALF}}, headers=headers)

    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["details"]["field"]) == (
        413,
        "PAYLOAD_TOO_LARGE",
        "config",
    )
    assert (await office.http.get(f"{path}/runs")).json()["runs"] == []


async def test_a_run_that_was_asked_for_with_what_is_no_configuration_fails_and_says_so(
    office: Office,
) -> None:
    dag_id = await made(office, {"name": "a", "kind": "echo"})

    asked = await office.http.post(f"/v1/jobs/{dag_id}/trigger", json={"input": [1]})
    assert asked.status_code == 201, asked.text
    await office.store.runs.start(now=office.clock.now(), limit=10)

    run = (await office.http.get(f"/v1/dag-runs/{asked.json()['execution_id']}")).json()
    assert (run["status"], run["error"]["kind"]) == ("FAILED", "invalid_config")
    assert "must be an object" in run["error"]["message"]


async def test_a_deleted_workflow_is_not_run_and_its_runs_are_not_repaired(office: Office) -> None:
    run = await begun(office, {"name": "a", "kind": "echo", "max_retries": 0}, GATE)
    dag = f"/v1/dags/{(await office.http.get(run)).json()['dag_id']}"
    [leased] = await office.claim(kinds=["echo"])
    await office.end(leased, Failed(Failure("oops", "went wrong")))
    assert (await office.http.delete(dag)).status_code == 200
    before = (await office.http.get(run)).json()
    assert before["status"] == "CANCELLED"

    answers = [
        await office.http.post(f"{dag}/trigger"),
        await office.http.post(f"{run}/rerun"),
        await office.http.post(f"{run}/tasks/a/retry"),
        await office.http.post(f"{run}/tasks/a/skip"),
    ]

    for answer in answers:
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "ILLEGAL_TRANSITION")
        assert "workflow that is DELETED" in answer.json()["error"]["message"]
    assert (await office.http.get(run)).json() == before


@pytest.mark.parametrize("name", ["a/b", "/", "a//b/", "x/approve", "50%2F", "a b?#", "ü/ö"])
async def test_a_task_of_any_name_is_acted_on(office: Office, name: str) -> None:
    run = await begun(office, GATE | {"name": name}, failure_strategy="PAUSE")
    task = f"{run}/tasks/{quote(name, safe='')}"

    for act, status in [("reject", "HALTED"), ("retry", "HELD"), ("approve", "COMPLETED")]:
        answer = await office.http.post(f"{task}/{act}")
        assert answer.status_code == 200, answer.text
        [found] = (await office.http.get(f"{run}/tasks")).json()["tasks"]
        assert (found["name"], found["status"]) == (name, status)
    nobody = await office.http.post(f"{run}/tasks/{quote('no/body', safe='')}/skip")
    assert (nobody.status_code, nobody.json()["error"]["details"]["field"]) == (400, "task")
    assert (await office.http.post(f"{task}/paint")).status_code == 404
