"""Jobs over HTTP: made, changed, listed, stopped."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from gnomon.core.executions.lifecycle import Succeeded
from tests.integration.api.conftest import Office, problem

HOUR = timedelta(hours=1)
NIGHTLY = {"name": "nightly", "kind": "report", "cron": "0 2 * * *", "timezone": "Europe/Berlin"}


async def test_a_job_is_made_and_read_back(office: Office) -> None:
    made = await office.http.post("/v1/jobs", json=NIGHTLY | {"tags": ["b", "a"], "payload": {"x": 1}})
    assert made.status_code == 201
    job = made.json()
    assert (job["name"], job["status"], job["job_type"], job["tags"]) == (
        "nightly",
        "ACTIVE",
        "CRON",
        ["a", "b"],
    )

    read = await office.http.get(made.headers["location"])

    assert read.status_code == 200
    assert read.headers["etag"] == '"1"'
    own = {"current_run": None, "last_run": None, "retry_count": 0, "next_run_skip": None}
    assert job | own == read.json()


async def test_both_forms_of_a_schedule_mean_the_same(office: Office) -> None:
    flat = {"job_type": "CRON", "cron_expression": "0 9 * * *", "timezone": "America/New_York"}
    nested = {"schedule": {"type": "cron", "expression": "0 9 * * *", "timezone": "America/New_York"}}
    one, two = await office.job(name="flat", **flat), await office.job(name="nested", **nested)

    assert one["schedule"] == two["schedule"]
    assert one["next_run_time"] == two["next_run_time"] is not None


@pytest.mark.parametrize(
    ("form", "job_type"),
    [
        ({"interval_seconds": 90}, "INTERVAL"),
        ({"schedule": {"type": "recurring", "every_seconds": 90}}, "INTERVAL"),
        ({"job_type": "ONE_TIME", "run_at": "2035-01-01T00:00:00+02:00"}, "ONE_TIME"),
        ({"job_type": "DELAYED", "delay_seconds": 30}, "DELAYED"),
        ({}, "MANUAL"),
    ],
)
async def test_every_type_of_schedule_can_be_written(
    office: Office, form: dict[str, Any], job_type: str
) -> None:
    assert (await office.job(**form))["job_type"] == job_type


async def test_a_change_keeps_what_it_does_not_name(office: Office) -> None:
    job = await office.job(**NIGHTLY, payload={"x": 1}, max_concurrent=3, tags=["a"])

    changed = await office.http.put(f"/v1/jobs/{job['job_id']}", json={"priority": 9, "cron": "0 3 * * *"})

    new = changed.json()
    assert (new["priority"], new["cron_expression"], new["timezone"]) == (9, "0 3 * * *", "Europe/Berlin")
    assert (new["payload"], new["max_concurrent"], new["tags"]) == ({"x": 1}, 3, ["a"])
    assert (new["version"], new["revision"]) == (2, 2)


async def test_null_takes_a_field_back(office: Office) -> None:
    job = await office.job(**NIGHTLY, timeout_seconds=5, tags=["a"], max_concurrent=3)

    form = {"timeout_seconds": None, "tags": None, "max_concurrent": None}
    new = (await office.http.put(f"/v1/jobs/{job['job_id']}", json=form)).json()

    assert (new["timeout_seconds"], new["tags"], new["max_concurrent"]) == (None, [], None)


@pytest.mark.parametrize("how", ["body", "header"])
async def test_who_has_seen_an_old_version_is_told(office: Office, how: str) -> None:
    job = await office.job(**NIGHTLY)
    url = f"/v1/jobs/{job['job_id']}"
    await office.http.put(url, json={"priority": 1})

    body = {"priority": 2} | ({"version": 1} if how == "body" else {})
    headers = {"If-Match": '"1"'} if how == "header" else {}
    late = await office.http.put(url, json=body, headers=headers)

    assert problem(late) == (409, "VERSION_CONFLICT")
    assert late.json()["error"]["details"] == {"expected": 1, "actual": 2}
    assert (await office.http.get(url)).json()["priority"] == 1


async def test_a_job_is_paused_resumed_cancelled_and_deleted(office: Office) -> None:
    url = f"/v1/jobs/{(await office.job(**NIGHTLY))['job_id']}"

    for action, status in (("pause", "PAUSED"), ("resume", "ACTIVE"), ("cancel", "CANCELLED")):
        answer = await office.http.post(f"{url}/{action}")
        assert (answer.status_code, answer.json()["status"]) == (200, status)
    assert answer.json()["cancelled_at"] is not None
    assert problem(await office.http.post(f"{url}/resume")) == (409, "ILLEGAL_TRANSITION")
    assert (await office.http.delete(url)).json()["status"] == "DELETED"
    assert (await office.http.get("/v1/jobs")).json()["jobs"] == []
    assert (await office.http.get("/v1/jobs?status=DELETED")).json()["jobs"][0]["name"] == "nightly"


async def test_a_name_can_be_used_once(office: Office) -> None:
    await office.job(**NIGHTLY)
    assert problem(await office.http.post("/v1/jobs", json=NIGHTLY)) == (409, "JOB_ALREADY_EXISTS")


async def test_jobs_are_listed_page_by_page_with_filters(office: Office) -> None:
    for number in range(5):
        await office.job(name=f"job {number}", tags=["even"] if number % 2 == 0 else [])
    await office.job(**NIGHTLY)

    first = (await office.http.get("/v1/jobs?tag=even&limit=2")).json()
    rest = (await office.http.get(f"/v1/jobs?tag=even&limit=2&cursor={first['next_cursor']}")).json()

    assert [job["name"] for job in first["jobs"] + rest["jobs"]] == ["job 4", "job 2", "job 0"]
    assert rest["next_cursor"] is None
    for query in ("type=cron", "name=nightly", "next_run_after=2020-01-01T00:00:00Z"):
        assert [job["name"] for job in (await office.http.get(f"/v1/jobs?{query}")).json()["jobs"]] == [
            "nightly"
        ]


async def test_a_cursor_fits_its_own_list_only(office: Office) -> None:
    for number in range(3):
        await office.job(name=f"job {number}")
    cursor = (await office.http.get("/v1/jobs?limit=1")).json()["next_cursor"]
    other = await office.key("read", tenant_id=await office.other_tenant())

    for query, headers in (
        (f"kind=report&cursor={cursor}", {}),
        (f"cursor={cursor}", other),
        ("cursor=x", {}),
    ):
        answer = await office.http.get(f"/v1/jobs?{query}", headers=headers)
        assert problem(answer) == (400, "INVALID_INPUT")


async def test_jobs_made_together_are_made_all_or_none(office: Office) -> None:
    good = {"jobs": [{"name": "one", "kind": "report"}, {"name": "two", "kind": "report"}]}
    bad = {
        "jobs": [
            {"name": "three", "kind": "report"},
            {"name": "four", "kind": "report", "cron": "61 * * * *"},
        ]
    }

    made = await office.http.post("/v1/jobs/batch", json=good)
    refused = await office.http.post("/v1/jobs/batch", json=bad)

    assert (made.status_code, [job["name"] for job in made.json()["jobs"]]) == (201, ["one", "two"])
    assert problem(refused) == (400, "INVALID_CRON")
    assert refused.json()["error"]["details"]["field"] == "jobs[1].cron"
    assert len((await office.http.get("/v1/jobs")).json()["jobs"]) == 2


async def test_many_posts_with_one_key_make_one_job(office: Office) -> None:
    headers = {"Idempotency-Key": str(uuid4())}

    answers = await asyncio.gather(
        *(office.http.post("/v1/jobs", json=NIGHTLY, headers=headers) for _ in range(64))
    )

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert len((await office.http.get("/v1/jobs")).json()["jobs"]) == 1


async def test_a_key_stands_for_one_request(office: Office) -> None:
    headers = {"Idempotency-Key": '"quoted"'}
    await office.http.post("/v1/jobs", json=NIGHTLY, headers=headers)

    again = await office.http.post(
        "/v1/jobs", json=dict(reversed(NIGHTLY.items())), headers={"Idempotency-Key": "quoted"}
    )
    other = await office.http.post("/v1/jobs", json=NIGHTLY | {"priority": 1}, headers=headers)

    assert again.status_code == 201
    assert problem(other) == (409, "IDEMPOTENCY_CONFLICT")


async def test_a_job_waits_for_others_named_by_id_or_by_name(office: Office) -> None:
    first, second = await office.job(name="first"), await office.job(name="second")

    third = await office.job(name="third", dependencies=[first["job_id"], "second"])

    assert third["dependencies"] == sorted([first["job_id"], second["job_id"]])
    cycle = await office.http.put(f"/v1/jobs/{first['job_id']}", json={"dependencies": ["third"]})
    assert problem(cycle) == (400, "INVALID_DEPENDENCY")
    missing = await office.http.post("/v1/jobs", json={"name": "x", "dependencies": ["nobody"]})
    assert problem(missing) == (404, "JOB_NOT_FOUND")


async def test_a_job_tells_what_runs_and_what_ended_last(office: Office) -> None:
    job = await office.job()
    url = f"/v1/jobs/{job['job_id']}"
    first, second = await office.run(job["job_id"]), await office.run(job["job_id"])
    done, running = await office.claim()
    await office.end(done, Succeeded())

    read = (await office.http.get(url)).json()

    assert read["last_run"]["run_id"] == first["execution_id"]
    assert read["last_run"]["status"] == "COMPLETED"
    assert read["current_run"]["run_id"] == second["execution_id"] == str(running.claim.execution_id)
    assert read["current_run"]["worker_id"] == "ada"


async def test_nobody_sees_the_jobs_of_another_tenant(office: Office) -> None:
    job = await office.job()
    other = await office.key("admin", tenant_id=await office.other_tenant())

    foreign = await office.http.get(f"/v1/jobs/{job['job_id']}", headers=other)
    unknown = await office.http.get(f"/v1/jobs/{uuid4()}", headers=other)

    assert problem(foreign) == problem(unknown) == (404, "JOB_NOT_FOUND")
    assert (await office.http.get("/v1/jobs", headers=other)).json()["jobs"] == []
    assert problem(await office.http.delete(f"/v1/jobs/{job['job_id']}", headers=other)) == (
        404,
        "JOB_NOT_FOUND",
    )
