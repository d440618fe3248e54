"""Which kinds are let in when jobs and workflows are saved, and how a worker says its own."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from gnomon.core.jobs.kinds import Kinds
from tests.integration.api.conftest import Office, problem

INSTALLED = frozenset({"dummy", "http", "python", "script"})
CALL = {"url": "https://example.org"}
CODE = {"function": "tidy"}


@pytest.fixture
async def known(office: Office) -> Office:
    """A server that knows the kinds that are installed there."""
    office.kinds = Kinds(INSTALLED)
    await office.http.aclose()
    await office.open()
    return office


@pytest.fixture
async def harmless(office: Office) -> Office:
    """A server on which no code of callers is to be saved."""
    office.kinds = Kinds(INSTALLED & {"http"}, enabled=frozenset({"http"}))
    await office.http.aclose()
    await office.open()
    return office


async def create(office: Office, **form: Any) -> httpx.Response:
    return await office.http.post("/v1/jobs", json={"name": "x", **form})


def refusal(answer: httpx.Response) -> tuple[str, str]:
    status, code = problem(answer)
    assert status == 400
    return code, answer.json()["error"]["details"]["field"]


async def test_a_kind_is_read_in_any_case_and_its_payload_is_checked(known: Office) -> None:
    made = await create(known, kind="HTTP", payload=CALL)
    assert (made.status_code, made.json()["kind"]) == (201, "http")
    found = await known.http.get("/v1/jobs", params={"kind": "Http"})
    assert [job["name"] for job in found.json()["jobs"]] == ["x"]
    refused = await create(known, name="y", kind="Script", payload={"scrip": "true"})
    assert refusal(refused) == ("INVALID_INPUT", "payload.scrip")


async def test_an_empty_kind_is_not_taken_for_one_that_was_not_said(known: Office) -> None:
    for said in ({}, {"payload": CALL}):
        assert refusal(await create(known, kind="", **said)) == ("INVALID_INPUT", "kind")
    path = f"/v1/jobs/{(await create(known, payload=CALL)).json()['job_id']}"
    for change in ({"kind": ""}, {"kind": "", "payload": CALL}):
        assert refusal(await known.http.put(path, json=change)) == ("INVALID_INPUT", "kind")


async def test_an_unknown_kind_is_refused_with_the_nearest_known_one(known: Office) -> None:
    refused = await create(known, kind="htpp", payload=CALL)
    assert refusal(refused) == ("UNKNOWN_KIND", "kind")
    assert "Did you mean `http`?" in refused.json()["error"]["message"]


async def test_an_unknown_kind_is_saved_for_a_caller_who_allows_it(known: Office) -> None:
    made = await create(known, kind="elsewhere", allow_unknown_kind=True)
    assert made.status_code == 201
    path = f"/v1/jobs/{made.json()['job_id']}"
    # It is there already, so a change of something else need not allow it again.
    assert (await known.http.put(path, json={"priority": 9})).status_code == 200
    assert refusal(await known.http.put(path, json={"kind": "other"})) == ("UNKNOWN_KIND", "kind")
    allowed = await known.http.put(path, json={"kind": "other", "allow_unknown_kind": True})
    assert (allowed.status_code, allowed.json()["kind"]) == (200, "other")


async def test_a_batch_names_the_job_whose_kind_is_unknown(known: Office) -> None:
    jobs = [{"name": "a", "kind": "dummy"}, {"name": "b", "kind": "dumy"}]
    refused = await known.http.post("/v1/jobs/batch", json={"jobs": jobs})
    assert refusal(refused) == ("UNKNOWN_KIND", "jobs[1].kind")
    jobs[1]["allow_unknown_kind"] = True  # type: ignore[assignment]
    assert (await known.http.post("/v1/jobs/batch", json={"jobs": jobs})).status_code == 201


async def test_a_kind_of_a_live_worker_is_known_until_it_leaves(known: Office) -> None:
    worker = await known.enrol(kinds=["Shell-Demo"])
    assert worker["kinds"] == ["shell-demo"]
    made = await create(known, kind="shell-demo")
    assert made.status_code == 201
    await known.run(made.json()["job_id"])
    asked = {
        "worker_id": "ada",
        "kinds": ["SHELL-demo"],
        "request_id": "00000000-0000-7000-8000-000000000001",
    }
    claimed = await known.http.post("/v1/leases/claim", json=asked)
    assert [lease["kind"] for lease in claimed.json()["leases"]] == ["shell-demo"]
    await known.http.post("/v1/workers/ada/leave", json={})
    assert refusal(await create(known, name="y", kind="shell-demo")) == ("UNKNOWN_KIND", "kind")


@pytest.mark.parametrize(
    "task",
    [{"kind": "htpp"}, {"payload": {"action": "htpp"}}, {"kind": "htpp", "payload": {"x": "${config.a}"}}],
    ids=["kind", "action", "with a reference"],
)
async def test_a_workflow_names_the_task_whose_kind_is_unknown(known: Office, task: dict[str, Any]) -> None:
    form = {"name": "flow", "tasks": [{"name": "a", "kind": "DUMMY"}, {"name": "b", **task}]}
    assert refusal(await known.http.post("/v1/dags", json=form)) == ("UNKNOWN_KIND", "tasks.b.kind")
    made = await known.http.post("/v1/dags", json={**form, "allow_unknown_kind": True})
    assert made.status_code == 201
    path = f"/v1/dags/{made.json()['dag_id']}"
    assert refusal(await known.http.put(path, json=form)) == ("UNKNOWN_KIND", "tasks.b.kind")
    # What is answered can be sent again.
    again = await known.http.put(path, json=made.json()["definition"])
    assert (again.status_code, again.json()["version"]) == (200, 1)


async def test_a_kind_that_is_off_is_refused_by_name_wherever_it_is_saved(harmless: Office) -> None:
    script = {"kind": "SCRIPT", "payload": {"interpreter": "sh", "script": "id"}, "allow_unknown_kind": True}
    refused = await create(harmless, **script)
    assert refusal(refused) == ("KIND_DISABLED", "kind")
    assert "'script' is off here; the setting handlers.enabled allows http" in refused.text
    follows = await create(harmless, payload={"interpreter": "sh", "script": "id"})
    assert refusal(follows) == ("KIND_DISABLED", "kind")
    batch = {"jobs": [{"name": "a", **script}]}
    assert refusal(await harmless.http.post("/v1/jobs/batch", json=batch)) == (
        "KIND_DISABLED",
        "jobs[0].kind",
    )
    flow = {
        "name": "flow",
        "tasks": [{"name": "a", "kind": "python", "payload": CODE}],
        "allow_unknown_kind": True,
    }
    assert refusal(await harmless.http.post("/v1/dags", json=flow)) == ("KIND_DISABLED", "tasks.a.kind")

    made = await create(harmless, kind="http", payload=CALL)
    changed = await harmless.http.put(f"/v1/jobs/{made.json()['job_id']}", json=script)
    assert refusal(changed) == ("KIND_DISABLED", "kind")
