"""The stream of events: in order, filtered, resumed without a gap; and the figures."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from operator import itemgetter
from typing import Any

import pytest

from gnomon.api.resources.events import Follower
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Failure
from gnomon.core.executions.lifecycle import Failed, Succeeded
from gnomon.errors import EventsGone
from tests.integration.api.conftest import Office, problem
from tests.integration.api.following import OLDEST, all_after


@pytest.fixture(autouse=True)
async def somebody_follows(office: Office) -> None:
    await office.store.events.follow(DEFAULT_TENANT, now=office.clock.now())


def a_follower(office: Office, types: str | None = None) -> Follower:
    return Follower(
        office.store.events, DEFAULT_TENANT, after=None, types=types, job_id=None, now=office.clock.now
    )


async def types(office: Office, **wanted: Any) -> list[str]:
    return [one["type"] for one in await all_after(office, **wanted)]


async def a_workflow_is_run(office: Office) -> None:
    """One task ends, the next is released and cancelled with its run; another workflow is run by a task."""
    tasks = [{"name": "a", "kind": "report"}, {"name": "b", "kind": "report", "dependencies": ["a"]}]
    inner = (await office.http.post("/v1/dags", json={"name": "inner", "tasks": tasks})).json()
    tasks = [{"name": "whole", "dag": inner["name"]}]
    outer = (await office.http.post("/v1/dags", json={"name": "outer", "tasks": tasks})).json()
    run = (await office.http.post(f"/v1/dags/{outer['dag_id']}/trigger", json={})).json()
    [leased] = await office.claim()
    await office.end(leased, Succeeded(None))
    stopped = await office.http.post(f"/v1/dag-runs/{run['dag_run_id']}/cancel")
    assert stopped.json()["status"] == "CANCELLED"


async def test_a_life_is_told_in_order(office: Office) -> None:
    job = await office.job(retry_policy={"max_attempts": 2, "backoff_seconds": 0, "jitter": 0})
    run = await office.run(job["job_id"])
    for _ in range(2):
        [leased] = await office.claim()
        await office.end(leased, Failed(Failure("oops", "No.")))
    await office.http.post(f"/v1/dlq/{run['execution_id']}/redrive")

    told = await all_after(office)

    assert [one["type"] for one in told if "execution" in one["type"]] == [
        "execution.created",
        "execution.started",
        "execution.retried",
        "execution.started",
        *sorted(["execution.dead_lettered", "execution.failed"], key=[one["type"] for one in told].index),
        *sorted(["execution.created", "execution.redriven"], key=[one["type"] for one in told][4:].index),
    ]
    first = next(one for one in told if one["type"] == "execution.created")
    assert first["specversion"] == "1.0"
    assert first["subject"] == f"executions/{run['execution_id']}"
    assert first["data"] == {"execution_id": run["execution_id"], "job_id": job["job_id"]}


async def test_what_people_do_with_jobs_is_told(office: Office) -> None:
    job = await office.job(cron="0 9 * * *")
    url = f"/v1/jobs/{job['job_id']}"
    for action in ("pause", "resume"):
        await office.http.post(f"{url}/{action}")
    await office.http.put(url, json={"priority": 1})
    await office.http.post(f"{url}/cancel")
    await office.http.delete(url)

    told = await types(office, types="job.*")

    names = ["created", "paused", "resumed", "updated", "cancelled", "deleted"]
    assert told == [f"job.{name}" for name in names]


async def test_fires_and_cancels_are_told(office: Office) -> None:
    job = await office.job(interval_seconds=60)
    office.clock.advance(timedelta(seconds=60))
    await office.fire()
    await office.http.delete(f"/v1/jobs/{job['job_id']}")

    told = await types(office)

    assert {"occurrence.fired", "execution.created", "execution.cancelled"} <= set(told)


async def test_an_occurrence_is_told_with_its_time_and_what_became_of_it(office: Office) -> None:
    job = await office.job(
        interval_seconds=60, misfire_policy="FIRE_ALL", misfire_grace_seconds=5, catchup_limit=2
    )
    office.clock.advance(timedelta(seconds=300))
    await office.fire()

    told = await all_after(office, types="occurrence.*")
    ledger = (await office.http.get(f"/v1/jobs/{job['job_id']}/occurrences")).json()["occurrences"]

    fields = ("nominal_time", "nominal_until", "count", "reason", "execution_id")
    expected = [{"job_id": job["job_id"], **{name: one[name] for name in fields}} for one in ledger]
    assert {one["type"] for one in told} == {"occurrence.fired", "occurrence.skipped"}
    assert sorted((one["data"] for one in told), key=itemgetter("nominal_time"), reverse=True) == expected
    for one in told:
        assert (one["data"]["reason"] is None) == (one["type"] == "occurrence.fired")


async def test_an_occurrence_that_the_ledger_forgot_is_still_told_with_its_time(office: Office) -> None:
    job = await office.job(interval_seconds=60)
    office.clock.advance(timedelta(seconds=60))
    await office.fire()
    [before] = await all_after(office, types="occurrence.fired")
    later = office.clock.now() + timedelta(days=1)
    await office.store.upkeep.forget_occurrences(before=later, limit=10)

    [told] = await all_after(office, types="occurrence.fired")

    assert told["data"] == {"job_id": job["job_id"], "nominal_time": before["data"]["nominal_time"]}


async def test_a_reader_goes_on_where_it_was_and_misses_nothing(office: Office) -> None:
    job = await office.job()
    url = f"/v1/jobs/{job['job_id']}/executions/batch"
    for _ in range(3):
        await office.http.post(url, json={"executions": [{}] * 50})
    told = await all_after(office)

    assert len(told) == 152  # The key of the office, the job, and its executions.
    for place in (0, 1, 60, 149):  # In the middle of a batch, too.
        assert await all_after(office, after=told[place]["id"]) == told[place + 1 :]
    header = {"Last-Event-ID": told[101]["id"]}
    answer = await office.http.get("/v1/events/stream", headers=header)
    assert answer.text.count("event: execution.created") == 50


async def test_events_are_filtered_by_type_and_job(office: Office) -> None:
    one, two = await office.job(name="one"), await office.job(name="two")
    for job in (one, two, two):
        await office.run(job["job_id"])
    for leased in await office.claim():
        await office.end(leased, Succeeded())

    assert await types(office, types="execution.completed") == ["execution.completed"] * 3
    of_one = await all_after(office, job_id=one["job_id"], types="execution.*")
    assert [event["type"] for event in of_one] == [
        "execution.created",
        "execution.started",
        "execution.completed",
    ]


async def test_a_tenant_hears_of_its_own_things_only(office: Office) -> None:
    await office.run((await office.job())["job_id"])
    headers = await office.key("read", tenant_id=await office.other_tenant())
    office.api.closing.set()

    answer = await office.http.get(f"/v1/events/stream?after={OLDEST}", headers=headers)

    told = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    assert [one["type"] for one in told] == ["key.created"]  # Of its own key.


async def test_without_a_position_a_stream_begins_now(office: Office) -> None:
    await office.job(name="before")
    follower = a_follower(office)
    await follower.start()
    assert list(await follower.page()) == []

    await office.job(name="after")

    assert [one.type for one in await follower.page()] == ["job.created"]


async def test_where_nobody_follows_runs_are_not_written_down(office: Office) -> None:
    job = await office.job()
    office.clock.advance(timedelta(days=3))
    await office.store.upkeep.forget_events(before=office.clock.now() - timedelta(days=1), limit=100)
    await office.run(job["job_id"])

    assert "execution.created" not in await types(office)  # Who asks follows.
    await office.run(job["job_id"])
    assert "execution.created" in await types(office)


async def test_a_run_of_a_workflow_is_told_with_its_tasks(office: Office) -> None:
    await a_workflow_is_run(office)

    told = [one.removeprefix("execution.") for one in await types(office, types="execution.*")]
    runs, first, second = ["created", "started"] * 2, ["created", "started", "completed"], ["created"]
    assert told == [*runs, *first, *second, "cancelled", "cancelled", "cancelled"]


async def test_where_nobody_follows_a_run_of_a_workflow_is_not_written_down(office: Office) -> None:
    office.clock.advance(timedelta(days=3))
    await office.store.upkeep.forget_events(before=office.clock.now() - timedelta(days=1), limit=100)
    await a_workflow_is_run(office)

    assert await types(office, types="execution.*") == []


async def test_a_follower_who_stays_is_not_forgotten(office: Office) -> None:
    job, follower = await office.job(), a_follower(office, types="execution.*")
    await follower.start()
    for _ in range(30):
        office.clock.advance(timedelta(hours=1))
        await follower.page()
        await office.store.upkeep.forget_events(before=office.clock.now() - timedelta(days=1), limit=100)
    await office.run(job["job_id"])

    assert [one.type for one in await follower.page()] == ["execution.created"]


async def test_what_an_open_transaction_will_add_is_not_passed_by(office: Office) -> None:
    """The one that commits last began first: who has read the others still gets it."""
    if not office.store.database.dead_rows_linger:
        pytest.skip("SQLite has one writer.")
    job = await office.job()
    follower = a_follower(office, types="execution.*")
    await follower.start()
    began, may_commit = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        async with office.store.database.transaction() as session:
            await session.fetch(
                "tenant_save",
                id=DEFAULT_TENANT,
                name="default",
                weight=1,
                max_concurrent=None,
                now=office.clock.now(),
            )
            began.set()
            await may_commit.wait()

    holding = asyncio.create_task(slow())
    await began.wait()
    await office.run(job["job_id"])
    assert list(await follower.page()) == []  # Not yet: something older may still come.
    may_commit.set()
    await holding

    assert [one.type for one in await follower.page()] == ["execution.created"]


async def test_who_was_away_for_too_long_is_told(office: Office) -> None:
    await office.job()
    event = (await all_after(office))[-1]
    await office.store.upkeep.forget_events(before=office.clock.now() + timedelta(hours=1), limit=100)

    gone = await office.http.get(f"/v1/events/stream?after={event['id']}")

    assert problem(gone) == (410, EventsGone.code)


@pytest.mark.parametrize("query", ["after=x", "types=nothing", "types=", "job_id=x", "after=1-2"])
async def test_a_wish_that_makes_no_sense_is_refused(office: Office, query: str) -> None:
    answer = await office.http.get(f"/v1/events/stream?{query}")
    assert problem(answer)[0] in (400, 404)


async def test_the_figures_are_those_of_the_store_and_of_this_node(office: Office) -> None:
    job = await office.job()
    for _ in range(3):
        await office.run(job["job_id"])
    worker = {"worker_id": "ada", "capacity": 5, "kinds": ["report"]}
    assert (await office.http.post("/v1/workers", json=worker)).status_code == 200
    done, *_ = await office.claim()
    await office.end(done, Failed(Failure("oops", "No."), permanent=True))
    await office.run(job["job_id"], delay_seconds=60)
    await office.run(job["job_id"])
    office.clock.advance(timedelta(seconds=10))
    late = {"execution_id": str(done.claim.execution_id), "claim": 1, "outcome": "succeeded"}
    await office.http.post("/v1/leases/complete", json={"worker_id": "ada", "completions": [late]})

    answer = await office.http.get("/metrics")
    text = answer.text

    assert answer.headers["content-type"].count("charset") == 1
    assert 'gnomon_queue_depth{queue="default",state="queued"} 1.0' in text
    assert 'gnomon_queue_depth{queue="default",state="pending"} 1.0' in text
    assert 'gnomon_queue_oldest_age_seconds{queue="default"} 10.0' in text
    assert 'gnomon_worker_slots{state="running"} 2.0' in text
    assert 'gnomon_worker_slots{state="free"} 3.0' in text
    assert "gnomon_dlq_depth 1.0" in text
    assert "gnomon_fenced_writes_rejected_total 1.0" in text
    assert "gnomon_jobs_enqueued_total 5.0" in text
    assert 'route="/v1/jobs/{job_id}/trigger"' in text
    assert job["job_id"] not in text


async def test_what_a_limit_holds_up_and_what_breaks_a_promise_is_counted(office: Office) -> None:
    narrow = await office.job(name="narrow", max_concurrent=1)
    for _ in range(3):
        await office.run(narrow["job_id"])
    text = (await office.http.get("/metrics")).text
    assert 'gnomon_limit_blocked_seconds_total{limit="job"} 0.0' in text
    assert 'gnomon_invariant_violations{check="workers"} 0.0' in text

    office.clock.advance(timedelta(seconds=90))

    text = (await office.http.get("/metrics")).text
    assert 'gnomon_limit_blocked_seconds_total{limit="job"} 180.0' in text
    assert 'gnomon_invariant_violations{check="workers"} 1.0' in text
    assert 'gnomon_invariant_violations{check="leases"} 0.0' in text


async def test_the_api_describes_itself(small_office: Office) -> None:
    document = (await small_office.http.get("/openapi.json")).json()

    assert document["openapi"] == "3.1.0"
    create = document["paths"]["/v1/jobs"]["post"]
    assert create["security"] == [{"api_key": []}]
    assert create["responses"].keys() >= {"201", "400", "409", "default"}
    form = document["components"]["schemas"][
        create["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    ]
    assert {"name", "cron_expression", "schedule", "retry_policy"} <= form["properties"].keys()
