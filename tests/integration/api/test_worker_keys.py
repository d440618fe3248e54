"""A worker is bound to the key that registered it, and to what it registered for."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from gnomon.api.serving.callers import REMEMBERED
from gnomon.core.operations.workers import OFFERS_MAX
from gnomon.store.databases.hints import Topic
from tests.integration.api.conftest import Office, problem


async def claim(office: Office, **fields: Any) -> httpx.Response:
    form = {"worker_id": "ada", "request_id": str(uuid4()), "limit": 100, **fields}
    return await office.http.post("/v1/leases/claim", json=form)


async def claimed(office: Office, **fields: Any) -> list[dict[str, Any]]:
    leases: list[dict[str, Any]] = (await claim(office, **fields)).json()["leases"]
    return leases


async def queued(office: Office, count: int, **job: Any) -> None:
    made = await office.job(**job)
    for _ in range(count):
        await office.run(made["job_id"])


async def test_a_worker_that_never_registered_gets_nothing(office: Office) -> None:
    await queued(office, 1)
    assert problem(await claim(office, kinds=["report"])) == (404, "WORKER_NOT_FOUND")


async def test_a_worker_that_left_ends_what_it_holds_and_claims_nothing_more(office: Office) -> None:
    await queued(office, 2)
    await office.enrol(capacity=1)
    [lease] = await claimed(office)
    for _ in range(2):
        assert (await office.http.post("/v1/workers/ada/leave")).json()["status"] == "GONE"

    ending = {"execution_id": lease["execution_id"], "claim": lease["claim"], "outcome": "succeeded"}
    ended = await office.http.post("/v1/leases/complete", json={"worker_id": "ada", "completions": [ending]})

    assert ended.json()["results"][0]["answer"] == "applied"
    assert problem(await claim(office)) == (404, "WORKER_NOT_FOUND")


async def test_it_claims_no_more_than_its_capacity_whatever_it_asks_for(office: Office) -> None:
    await queued(office, 5)
    await office.enrol(capacity=1)

    assert len(await claimed(office)) == 1
    assert await claimed(office) == []
    await office.http.post("/v1/workers/ada/heartbeat", json={"capacity": 3})

    assert len(await claimed(office)) == 2
    assert (await office.http.get("/v1/workers/ada")).json()["capacity"] == 3


@pytest.mark.parametrize(
    ("field", "other"), [("kinds", "http"), ("queues", "secret"), ("capabilities", "gpu")]
)
async def test_it_claims_only_what_it_registered_for(office: Office, field: str, other: str) -> None:
    await queued(office, 1)
    await office.enrol()

    refused = await claim(office, **{field: ["report", other]})

    assert problem(refused) == (400, "INVALID_INPUT")
    assert refused.json()["error"]["details"]["field"] == field
    assert other in refused.json()["error"]["message"]


@pytest.mark.parametrize("field", ["kinds", "queues", "capabilities"])
async def test_it_offers_no_more_than_can_be_read_with_each_call(office: Office, field: str) -> None:
    form: dict[str, Any] = {"worker_id": "ada", "kinds": ["report"]}
    form[field] = [f"one-{at}" for at in range(OFFERS_MAX + 1)]

    refused = await office.http.post("/v1/workers", json=form)

    assert problem(refused) == (400, "INVALID_INPUT")
    assert refused.json()["error"]["details"]["field"] == field
    form[field] = form[field][1:]
    assert (await office.http.post("/v1/workers", json=form)).status_code == 200


async def test_a_claim_that_names_nothing_is_for_all_that_it_registered_for(office: Office) -> None:
    await queued(office, 1, queue="mail")
    await queued(office, 1, name="other", queue="other")
    await office.enrol(queues=["mail"])

    assert [one["queue"] for one in await claimed(office)] == ["mail"]


async def test_a_drained_worker_gets_nothing(office: Office) -> None:
    await queued(office, 1)
    await office.enrol()
    await office.http.post("/v1/workers/ada/drain")
    assert await claimed(office) == []

    await office.http.post("/v1/workers/ada/undrain")
    assert len(await claimed(office)) == 1


async def test_another_key_does_not_speak_for_it(office: Office) -> None:
    await queued(office, 2)
    await office.enrol(capacity=1)
    [lease] = await claimed(office)
    token = {"execution_id": lease["execution_id"], "claim": lease["claim"]}
    calls: dict[str, dict[str, Any]] = {
        "/v1/leases/claim": {"request_id": str(uuid4())},
        "/v1/leases/renew": {"leases": [token]},
        "/v1/leases/complete": {"completions": [{**token, "outcome": "succeeded"}]},
        "/v1/leases/checkpoint": {"checkpoints": [{**token, "state": 1}]},
        "/v1/leases/logs": {"lines": [{**token, "number": 1, "message": "mine"}]},
    }
    other = await office.key("worker")

    for path, form in calls.items():
        refused = await office.http.post(path, json={"worker_id": "ada", **form}, headers=other)
        assert problem(refused) == (403, "WORKER_OF_ANOTHER_KEY"), path
    for verb in ("heartbeat", "leave"):
        refused = await office.http.post(f"/v1/workers/ada/{verb}", headers=other)
        assert problem(refused) == (403, "WORKER_OF_ANOTHER_KEY"), verb

    run = (await office.http.get(f"/v1/executions/{lease['execution_id']}")).json()
    assert run["status"] == "RUNNING"
    assert (await office.http.get("/v1/workers/ada")).json()["status"] == "ACTIVE"


@pytest.mark.parametrize("where", ["here", "elsewhere"])
async def test_a_claim_that_waits_gets_nothing_once_its_key_is_revoked(office: Office, where: str) -> None:
    key = await office.client.keys.create("ci", ["worker"])
    headers = {"Authorization": f"Bearer {key.text}"}
    await office.http.post("/v1/workers", json={"worker_id": "eve", "kinds": ["report"]}, headers=headers)
    form = {"worker_id": "eve", "request_id": str(uuid4()), "limit": 1, "wait_seconds": 30}
    async with asyncio.timeout(20):
        waiting = asyncio.create_task(office.http.post("/v1/leases/claim", json=form, headers=headers))
        while not office.bells._waiting.get(Topic.WORK):  # noqa: ASYNC110 - nothing tells of it.
            await asyncio.sleep(0)
        if where == "here":
            await office.http.delete(f"/v1/keys/{key.key.id}")
        else:
            await office.store.keys.revoke(key.key.tenant_id, key.key.id, now=office.clock.now())
            office.clock.advance(REMEMBERED)
        await queued(office, 1)

        assert problem(await waiting) == (401, "UNAUTHORIZED")
    [waits] = (await office.http.get("/v1/executions")).json()["executions"]
    assert waits["status"] == "QUEUED"


async def test_no_key_speaks_for_a_worker_on_the_store(office: Office) -> None:
    await office.register("ada")
    for verb in ("heartbeat", "leave"):
        refused = await office.http.post(f"/v1/workers/ada/{verb}")
        assert problem(refused) == (403, "WORKER_OF_ANOTHER_KEY")
    taken = await office.http.post("/v1/workers", json={"worker_id": "ada", "kinds": ["report"]})
    assert problem(taken) == (409, "WORKER_NAME_TAKEN")


async def test_the_request_id_of_another_worker_returns_nothing_of_it(office: Office) -> None:
    await queued(office, 1)
    await office.enrol()
    request_id = str(uuid4())
    assert len(await claimed(office, request_id=request_id)) == 1
    other = await office.key("worker")
    await office.http.post("/v1/workers", json={"worker_id": "eve", "kinds": ["report"]}, headers=other)

    form = {"worker_id": "eve", "request_id": request_id, "is_repeat": True}
    assert (await office.http.post("/v1/leases/claim", json=form, headers=other)).json()["leases"] == []


async def test_a_live_name_is_taken_from_nobody_but_its_own_key(office: Office) -> None:
    first = await office.enrol()
    other = await office.key("worker")
    form = {"worker_id": "ada", "kinds": ["report"]}

    taken = await office.http.post("/v1/workers", json=form, headers=other)
    assert problem(taken) == (409, "WORKER_NAME_TAKEN")
    office.clock.advance(timedelta(seconds=1))
    again = await office.enrol()  # A restart: its own key, and a later boot.
    assert again["boot"] > first["boot"]
    late = await office.http.post("/v1/workers", json={**form, "boot": first["boot"]})
    assert problem(late) == (409, "WORKER_NAME_TAKEN")

    office.clock.advance(timedelta(minutes=1))
    assert (await office.http.post("/v1/workers", json=form, headers=other)).status_code == 200
    assert problem(await office.http.post("/v1/workers/ada/heartbeat")) == (403, "WORKER_OF_ANOTHER_KEY")


@pytest.mark.parametrize(
    ("beat", "field"),
    [({"status": "sleepy"}, "status"), ({"capacity": 0}, "capacity"), ({"capacity": 10**6}, "capacity")],
)
async def test_a_beat_that_says_what_cannot_be_is_refused(
    office: Office, beat: dict[str, Any], field: str
) -> None:
    await office.enrol()

    refused = await office.http.post("/v1/workers/ada/heartbeat", json=beat)

    assert problem(refused) == (400, "INVALID_INPUT")
    assert refused.json()["error"]["details"]["field"] == field
    assert (await office.http.get("/v1/workers/ada")).json()["capacity"] == 10


@pytest.mark.parametrize(
    ("said", "status"), [("healthy", "ACTIVE"), ("ACTIVE", "ACTIVE"), ("draining", "DRAINING")]
)
async def test_a_beat_says_how_the_worker_is(office: Office, said: str, status: str) -> None:
    await office.enrol()
    shown = (await office.http.post("/v1/workers/ada/heartbeat", json={"status": said})).json()
    assert shown["status"] == status
