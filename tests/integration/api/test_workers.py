"""The worker protocol over HTTP: a whole life of an execution, and everything that may go wrong with it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.integration.api.conftest import Office, problem

ADA = {"worker_id": "ada", "kinds": ["report"]}


async def claim(office: Office, **fields: Any) -> httpx.Response:
    form = {**ADA, "request_id": str(uuid4()), "limit": 10, **fields}
    await office.enrol(form["worker_id"])
    return await office.http.post("/v1/leases/claim", json=form)


async def claimed(office: Office, count: int = 1, **job: Any) -> list[dict[str, Any]]:
    made = await office.job(**job)
    for _ in range(count):
        await office.run(made["job_id"])
    leases: list[dict[str, Any]] = (await claim(office)).json()["leases"]
    return leases


def token(lease: dict[str, Any]) -> dict[str, Any]:
    return {"execution_id": lease["execution_id"], "claim": lease["claim"]}


async def complete(office: Office, *completions: dict[str, Any], worker: str = "ada") -> httpx.Response:
    form = {"worker_id": worker, "completions": list(completions)}
    return await office.http.post("/v1/leases/complete", json=form)


async def test_an_execution_is_claimed_renewed_and_completed(office: Office) -> None:
    [lease] = await claimed(office, payload={"x": 1}, timeout_seconds=5)
    assert (lease["payload"], lease["attempt_number"], lease["claim"]) == ({"x": 1}, 1, 1)
    assert (lease["timeout_seconds"], lease["max_attempts"]) == (5, 3)

    renewal = {"worker_id": "ada", "leases": [token(lease)]}
    renewed = (await office.http.post("/v1/leases/renew", json=renewal)).json()
    assert renewed["lost"] == []
    assert renewed["renewed"][0]["command"] is None
    answer = await complete(office, {**token(lease), "outcome": "succeeded", "result": {"pages": 3}})

    assert answer.json()["results"] == [
        {**token(lease), "answer": "applied", "replayed": False, "status": "COMPLETED"}
    ]
    shown = (await office.http.get(f"/v1/executions/{lease['execution_id']}")).json()
    assert (shown["status"], shown["result"], shown["worker_id"]) == ("COMPLETED", {"pages": 3}, "ada")


async def test_a_lost_reply_leaks_no_claim(office: Office) -> None:
    job = await office.job()
    for _ in range(3):
        await office.run(job["job_id"])
    request_id = str(uuid4())

    first = (await claim(office, request_id=request_id, limit=2)).json()["leases"]
    again = (await claim(office, request_id=request_id, limit=2, is_repeat=True)).json()["leases"]

    assert len(first) == 2
    assert [token(one) for one in again] == [token(one) for one in first]


async def test_a_claim_waits_for_work_and_is_woken(office: Office) -> None:
    job = await office.job()
    waiting = asyncio.create_task(claim(office, wait_seconds=30))
    await asyncio.sleep(0)

    async with asyncio.timeout(5):
        run = await office.run(job["job_id"])
        leases = (await waiting).json()["leases"]

    assert [one["execution_id"] for one in leases] == [run["execution_id"]]


async def test_a_claim_that_waits_ends_when_the_server_does(office: Office) -> None:
    office.api.closing.set()
    async with asyncio.timeout(5):
        assert (await claim(office, wait_seconds=30)).json()["leases"] == []


async def test_a_stale_token_is_refused_and_changes_nothing(office: Office) -> None:
    [lease] = await claimed(office, retry_policy={"backoff_seconds": 0, "jitter": 0})
    await complete(office, {**token(lease), "outcome": "failed", "error_kind": "oops"})
    [again] = (await claim(office, worker_id="bob")).json()["leases"]

    late = await complete(office, {**token(lease), "outcome": "succeeded"})

    assert problem(late) == (409, "LEASE_LOST")
    assert late.json()["error"]["details"]["current_claim"] == again["claim"] == 2
    shown = (await office.http.get(f"/v1/executions/{lease['execution_id']}")).json()
    assert (shown["status"], shown["worker_id"]) == ("RUNNING", "bob")


async def test_a_completion_that_is_repeated_counts_once(office: Office) -> None:
    [lease] = await claimed(office)
    ending = {**token(lease), "outcome": "succeeded", "result": 1}

    answers = [(await complete(office, ending)).json()["results"][0] for _ in range(3)]

    assert [one["answer"] for one in answers] == ["applied", "replayed", "replayed"]
    assert [one["replayed"] for one in answers] == [False, True, True]
    assert (
        len((await office.http.get(f"/v1/executions/{lease['execution_id']}/attempts")).json()["attempts"])
        == 1
    )


@pytest.mark.parametrize("number", [0, 2, -1, 2**31, 2**63])
async def test_a_forged_token_is_refused(office: Office, number: int) -> None:
    [lease] = await claimed(office)

    forged = await complete(office, {**token(lease), "claim": number, "outcome": "succeeded"})

    assert problem(forged) == (409, "LEASE_LOST")
    assert (await office.http.get(f"/v1/executions/{lease['execution_id']}")).json()["status"] == "RUNNING"


async def test_a_worker_cannot_speak_for_another(office: Office) -> None:
    [lease] = await claimed(office)
    await office.enrol("eve")
    form = {"worker_id": "eve", "checkpoints": [{**token(lease), "state": {"mine": True}}]}

    assert problem(await complete(office, {**token(lease), "outcome": "succeeded"}, worker="eve")) == (
        409,
        "LEASE_LOST",
    )
    assert problem(await office.http.post("/v1/leases/checkpoint", json=form)) == (409, "LEASE_LOST")
    renewal = {"worker_id": "eve", "leases": [token(lease)]}
    assert problem(await office.http.post("/v1/leases/renew", json=renewal)) == (409, "LEASE_LOST")


async def test_a_batch_tells_which_of_it_was_lost(office: Office) -> None:
    one, two = await claimed(office, 2)
    await complete(office, {**token(two), "outcome": "failed", "error_kind": "oops"})

    answer = await complete(
        office, {**token(one), "outcome": "succeeded"}, {**token(two), "outcome": "succeeded"}
    )

    assert answer.status_code == 200
    assert [result["answer"] for result in answer.json()["results"]] == ["applied", "lost"]


async def test_who_is_to_stop_learns_it_when_renewing(office: Office) -> None:
    [lease] = await claimed(office)
    await office.http.post(f"/v1/executions/{lease['execution_id']}/cancel")
    renewal = {"worker_id": "ada", "leases": [token(lease)]}

    renewed = (await office.http.post("/v1/leases/renew", json=renewal)).json()["renewed"]
    assert renewed[0]["command"] == "cancel"
    await complete(office, {**token(lease), "outcome": "cancelled"})

    assert problem(await office.http.post("/v1/leases/renew", json=renewal)) == (409, "LEASE_LOST")


async def test_the_next_attempt_goes_on_from_the_checkpoint(office: Office) -> None:
    [lease] = await claimed(office)
    saved = {"worker_id": "ada", "checkpoints": [{**token(lease), "state": {"step": 3}, "progress": 0.5}]}
    assert (await office.http.post("/v1/leases/checkpoint", json=saved)).json()["kept"] == [token(lease)]
    await complete(office, {**token(lease), "outcome": "released"})

    [again] = (await claim(office)).json()["leases"]

    assert (again["claim"], again["attempt_number"], again["checkpoint"]) == (2, 1, {"step": 3})


async def test_lines_are_kept_while_the_lease_is_held(office: Office) -> None:
    [lease] = await claimed(office)
    lines = [{**token(lease), "number": n, "message": f"line {n}", "level": "warning"} for n in (1, 2)]
    for _ in range(2):  # A line that is sent twice is one line.
        answer = await office.http.post("/v1/leases/logs", json={"worker_id": "ada", "lines": lines})
        assert answer.json() == {"kept": [token(lease)], "lost": []}
    await complete(office, {**token(lease), "outcome": "succeeded"})
    late = [{**token(lease), "number": 3, "message": "late"}]

    shown = (await office.http.get(f"/v1/executions/{lease['execution_id']}/logs")).json()["lines"]
    assert [(one["message"], one["level"]) for one in shown] == [("line 1", "WARNING"), ("line 2", "WARNING")]
    late_answer = await office.http.post("/v1/leases/logs", json={"worker_id": "ada", "lines": late})
    assert problem(late_answer) == (409, "LEASE_LOST")


@pytest.mark.parametrize(
    ("completion", "status"),
    [
        ({"outcome": "failed", "error_kind": "oops", "permanent": True}, "FAILED"),
        ({"outcome": "failed", "error_kind": "oops", "retry_after_seconds": 60}, "PENDING"),
        ({"outcome": "timed_out"}, "PENDING"),
        ({"outcome": "snoozed", "delay_seconds": 60}, "PENDING"),
        ({"outcome": "released"}, "PENDING"),
    ],
)
async def test_every_outcome_is_decided_here(office: Office, completion: dict[str, Any], status: str) -> None:
    [lease] = await claimed(office)
    answer = await complete(office, {**token(lease), **completion})
    assert answer.json()["results"][0]["status"] == status


async def test_workers_are_listed_drained_and_leave(office: Office) -> None:
    boot = str(uuid4())
    form = {"worker_id": "ada", "capacity": 4, "kinds": ["report"], "queues": ["mail"], "boot": boot}
    assert (await office.http.post("/v1/workers", json=form)).json()["boot"] == boot
    for name in ("bob", "cyd"):
        await office.enrol(name)

    first = (await office.http.get("/v1/workers?limit=2")).json()
    rest = (await office.http.get(f"/v1/workers?limit=2&cursor={first['next_cursor']}")).json()
    assert [one["worker_id"] for one in first["workers"] + rest["workers"]] == ["ada", "bob", "cyd"]
    assert (await office.http.post("/v1/workers/ada/drain")).json()["status"] == "DRAINING"
    assert (await office.http.post("/v1/workers/ada/heartbeat", json={"boot": boot})).json()[
        "command"
    ] == "drain"
    undrained = (await office.http.post("/v1/workers/ada/undrain")).json()
    assert (undrained["status"], undrained["command"]) == ("ACTIVE", None)
    assert (await office.http.post("/v1/workers/ada/leave")).json()["status"] == "GONE"
    assert problem(await office.http.post("/v1/workers/ada/undrain")) == (409, "ILLEGAL_TRANSITION")
    assert problem(await office.http.post("/v1/workers/ada/heartbeat")) == (404, "WORKER_NOT_FOUND")


async def test_a_silent_worker_is_dead_until_its_next_beat(office: Office) -> None:
    for name in ("bob", "cyd"):
        await office.enrol(name)
    await office.http.post("/v1/workers/cyd/drain")

    office.clock.advance(timedelta(minutes=1))

    shown = (await office.http.get("/v1/workers")).json()["workers"]
    assert [(one["status"], one["is_live"]) for one in shown] == [("DEAD", False)] * 2
    assert (await office.http.post("/v1/workers/bob/heartbeat")).json()["status"] == "ACTIVE"
    assert (await office.http.post("/v1/workers/cyd/heartbeat")).json()["status"] == "DRAINING"
