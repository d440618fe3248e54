"""Executions, dead letters and schedules over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from gnomon.core.executions.execution import Failure
from gnomon.core.executions.lifecycle import Failed, Released, Succeeded
from gnomon.core.executions.records import Checkpoint, LogLevel, LogLine
from gnomon.core.values.document import Document
from tests.integration.api.conftest import Office, problem

BROKEN = Failed(Failure("oops", "It did not work."), permanent=True)


async def dead(office: Office, count: int = 1) -> tuple[str, list[str]]:
    job = await office.job()
    wishes = {"executions": [{"input": {"n": n}} for n in range(count)]}
    await office.http.post(f"/v1/jobs/{job['job_id']}/executions/batch", json=wishes)
    leased = await office.claim()
    for one in leased:
        await office.end(one, BROKEN)
    return job["job_id"], [str(one.claim.execution_id) for one in leased]


async def test_a_run_is_asked_for_with_its_wishes(office: Office) -> None:
    job = await office.job()
    run = await office.run(job["job_id"], input={"day": 1}, priority=9, delay_seconds=60, unique_key="k")
    twin = await office.run(job["job_id"], unique_key="k")

    assert (run["is_new"], twin["is_new"]) == (True, False)
    assert twin["execution_id"] == run["execution_id"]
    shown = (await office.http.get(f"/v1/executions/{run['execution_id']}")).json()
    assert (shown["status"], shown["input"], shown["priority"]) == ("PENDING", {"day": 1}, 9)
    assert (shown["trigger"], shown["unique_key"]) == ("manual", "k")


async def test_a_thousand_runs_are_asked_for_at_once(office: Office) -> None:
    job = await office.job()
    url = f"/v1/jobs/{job['job_id']}/executions/batch"
    headers = {"Idempotency-Key": str(uuid4())}

    made = await office.http.post(
        url, json={"executions": [{"input": n} for n in range(1000)]}, headers=headers
    )
    again = await office.http.post(
        url, json={"executions": [{"input": n} for n in range(1000)]}, headers=headers
    )
    more = await office.http.post(url, json={"executions": [{}] * 1001})

    assert made.status_code == 201
    ids = [one["execution_id"] for one in made.json()["executions"]]
    assert len(set(ids)) == 1000
    assert [one["execution_id"] for one in again.json()["executions"]] == ids
    assert problem(more) == (400, "INVALID_INPUT")
    assert len(await office.claim(limit=2000)) == 1000


async def test_executions_are_listed_page_by_page(office: Office) -> None:
    job = await office.job()
    runs = [(await office.run(job["job_id"]))["execution_id"] for _ in range(3)]
    await office.end((await office.claim(limit=1))[0], Succeeded())

    first = (await office.http.get("/v1/executions?limit=2")).json()
    rest = (await office.http.get(f"/v1/executions?limit=2&cursor={first['next_cursor']}")).json()
    queued = (await office.http.get(f"/v1/executions?status=QUEUED&job_id={job['job_id']}")).json()

    assert [one["execution_id"] for one in first["executions"] + rest["executions"]] == runs[::-1]
    assert {one["job_name"] for one in first["executions"]} == {"report"}
    assert len(queued["executions"]) == 2


async def test_attempts_and_logs_tell_the_story(office: Office) -> None:
    job = await office.job()
    run = await office.run(job["job_id"])
    url = f"/v1/executions/{run['execution_id']}"
    [leased] = await office.claim()
    lines = [
        LogLine(leased.claim, n, office.clock.now(), LogLevel.INFO, f"line {n}", Document("{}"))
        for n in (1, 2, 3)
    ]
    await office.store.logs.append(lines)
    await office.store.checkpoints.save([Checkpoint(leased.claim, Document("{}"), 0.5, office.clock.now())])
    await office.end(leased, BROKEN)

    first = (await office.http.get(f"{url}/logs?limit=2")).json()
    rest = (await office.http.get(f"{url}/logs?after={first['next_after']}")).json()
    [attempt] = (await office.http.get(f"{url}/attempts")).json()["attempts"]

    assert [one["message"] for one in first["lines"] + rest["lines"]] == ["line 1", "line 2", "line 3"]
    assert rest["next_after"] == "1.3"
    assert (attempt["outcome"], attempt["worker_id"], attempt["error"]["kind"]) == ("FAILED", "ada", "oops")
    stream = await office.http.get(f"{url}/logs/stream?after=1.1")
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.text.count("event: line") == 2
    assert stream.text.endswith('event: end\ndata: {"status":"FAILED"}\n\n')


async def test_an_attempt_has_one_number_wherever_it_is_told(office: Office) -> None:
    """What a drain gives back is not charged: the next attempt has the same number."""
    job = await office.job()
    run = await office.run(job["job_id"])
    url = f"/v1/executions/{run['execution_id']}"
    numbers = []
    for outcome in (Released(), Failed(Failure("oops", "It did not work.")), Released(), Succeeded()):
        [leased] = await office.claim()
        numbers.append(leased.attempt)
        assert (await office.http.get(url)).json()["attempt_number"] == leased.attempt
        await office.end(leased, outcome)
        office.clock.advance(timedelta(hours=1))

    told = (await office.http.get(f"{url}/attempts")).json()["attempts"]

    assert numbers == [one["attempt_number"] for one in told] == [1, 1, 2, 2]
    assert [one["claim"] for one in told] == [1, 2, 3, 4]
    assert (await office.http.get(url)).json()["attempt_number"] == 2


async def test_an_attempt_that_was_given_back_and_cancelled_was_the_first(office: Office) -> None:
    job = await office.job()
    run, other = await office.run(job["job_id"]), await office.run(job["job_id"])
    [leased] = await office.claim(limit=1)
    await office.end(leased, Released())
    for one in (run, other):
        await office.http.post(f"/v1/executions/{one['execution_id']}/cancel")

    shown = [(await office.http.get(f"/v1/executions/{one['execution_id']}")).json() for one in (run, other)]

    assert [one["attempt_number"] for one in shown] == [1, 0]


async def test_an_execution_is_cancelled_and_tried_again(office: Office) -> None:
    job = await office.job()
    run = await office.run(job["job_id"], input=7)
    url = f"/v1/executions/{run['execution_id']}"

    assert problem(await office.http.post(f"{url}/retry")) == (409, "ILLEGAL_TRANSITION")
    for _ in range(2):
        assert (await office.http.post(f"{url}/cancel")).json()["status"] == "CANCELLED"
    again = (await office.http.post(f"{url}/retry")).json()

    assert again["execution_id"] != run["execution_id"]
    assert (await office.http.get(f"/v1/executions/{again['execution_id']}")).json()["input"] == 7


async def test_a_dead_letter_is_read_redriven_and_purged(office: Office) -> None:
    job_id, [execution_id] = await dead(office)

    [letter] = (await office.http.get(f"/v1/dlq?job_id={job_id}")).json()["dead_letters"]
    assert (letter["execution_id"], letter["reason"], letter["job_name"]) == (
        execution_id,
        "permanent",
        "report",
    )
    one = (await office.http.post(f"/v1/dlq/{execution_id}/redrive")).json()
    two = (await office.http.post(f"/v1/dlq/{execution_id}/redrive")).json()

    assert (one["is_new"], two["is_new"]) == (True, False)
    assert one["execution_id"] == two["execution_id"]
    assert (await office.http.get(f"/v1/dlq/{execution_id}")).json()["redriven_as"] == one["execution_id"]
    assert (await office.http.delete(f"/v1/dlq/{execution_id}")).json() == {"execution_ids": [execution_id]}
    assert problem(await office.http.get(f"/v1/dlq/{execution_id}")) == (404, "DEAD_LETTER_NOT_FOUND")


@pytest.mark.parametrize("path", ["/v1/dlq/{}/redrive", "/v1/executions/{}/retry"])
@pytest.mark.parametrize(
    ("body", "revision"), [(None, 2), ({"revision": "newest"}, 2), ({"revision": "original"}, 1)]
)
async def test_what_failed_runs_again_at_the_newest_revision_or_at_the_original_one(
    office: Office, path: str, body: dict[str, str] | None, revision: int
) -> None:
    job_id, [execution_id] = await dead(office)
    assert (
        await office.http.put(f"/v1/jobs/{job_id}", json={"kind": "echo", "priority": 9})
    ).status_code == 200

    again = (await office.http.post(path.format(execution_id), json=body)).json()

    assert (again["revision"], again["dag_run_id"]) == (revision, None)
    assert (await office.http.get(f"/v1/executions/{again['execution_id']}")).json()["revision"] == revision


async def test_a_list_is_redriven_at_its_original_revision_and_no_other_word_is_known(office: Office) -> None:
    job_id, ids = await dead(office, 2)
    await office.http.put(f"/v1/jobs/{job_id}", json={"kind": "echo", "priority": 9})
    asked = {"execution_ids": ids}

    odd = await office.http.post("/v1/dlq/redrive", json=asked | {"revision": "second"})
    done = await office.http.post("/v1/dlq/redrive", json=asked | {"revision": "original"})

    assert problem(odd) == (400, "INVALID_INPUT")
    assert "newest, original" in odd.json()["error"]["message"]
    assert [one["revision"] for one in done.json()["executions"]] == [1, 1]


async def test_an_ended_run_that_did_not_fail_is_repeated_at_the_revision_that_is_wanted(
    office: Office,
) -> None:
    job = await office.job()
    run = await office.run(job["job_id"], input=7)
    url = f"/v1/executions/{run['execution_id']}"
    await office.http.post(f"{url}/cancel")
    await office.http.put(f"/v1/jobs/{job['job_id']}", json={"kind": "echo", "priority": 9})

    newest = (await office.http.post(f"{url}/retry")).json()
    original = (await office.http.post(f"{url}/retry", json={"revision": "original"})).json()

    assert (newest["revision"], original["revision"]) == (2, 1)
    assert (await office.http.get(f"/v1/executions/{original['execution_id']}")).json()["input"] == 7


async def test_what_cannot_be_redriven_does_not_keep_the_others_from_it(office: Office) -> None:
    gone, [lost] = await dead(office)
    await office.http.delete(f"/v1/jobs/{gone}")
    _, [execution_id] = await dead(office)

    done = (await office.http.post("/v1/dlq/redrive", json={"all": True})).json()

    assert [one["is_new"] for one in done["executions"]] == [True]
    assert [(one["execution_id"], one["code"]) for one in done["refused"]] == [(lost, "JOB_NOT_FOUND")]
    assert (await office.http.get(f"/v1/dlq/{execution_id}")).json()["redriven_as"] is not None


async def test_dead_letters_are_redriven_and_purged_by_filter(office: Office) -> None:
    job_id, ids = await dead(office, 5)

    some = await office.http.post("/v1/dlq/redrive", json={"execution_ids": ids[:2]})
    rest = await office.http.post("/v1/dlq/redrive", json={"job_id": job_id})
    nothing = await office.http.post("/v1/dlq/redrive", json={})
    purged = await office.http.post("/v1/dlq/purge", json={"all": True})

    assert len(some.json()["executions"]) == 2
    assert len(rest.json()["executions"]) == 3
    assert problem(nothing) == (400, "INVALID_INPUT")
    assert sorted(purged.json()["execution_ids"]) == sorted(ids)
    assert len(await office.claim()) == 5


async def test_the_ledger_tells_what_fired_and_what_did_not(office: Office) -> None:
    job = await office.job(interval_seconds=60, misfire_policy="IGNORE")
    office.clock.advance(timedelta(seconds=60))
    await office.fire()
    office.clock.advance(timedelta(minutes=30))
    await office.fire()

    url = f"/v1/jobs/{job['job_id']}/occurrences"
    first = (await office.http.get(f"{url}?limit=1")).json()
    rest = (await office.http.get(f"{url}?cursor={first['next_cursor']}")).json()

    outcomes = [(one["outcome"], one["reason"]) for one in first["occurrences"] + rest["occurrences"]]
    assert ("fired", None) in outcomes
    assert ("skipped", "misfire") in outcomes


@pytest.mark.parametrize(
    "form",
    [
        {"cron": "30 2 * * *", "timezone": "America/New_York"},
        {"schedule": {"type": "cron", "expression": "30 2 * * *", "timezone": "America/New_York"}},
    ],
)
async def test_a_preview_shows_what_daylight_saving_does(office: Office, form: dict[str, Any]) -> None:
    fires = (await office.http.post("/v1/schedules/preview", json=form | {"limit": 100})).json()["fires"]

    assert len(fires) == 100
    [shifted] = [one for one in fires if one["note"]]
    assert shifted["note"] == "shifted out of a gap"
    assert shifted["local_time"][11:] == "03:00:00-04:00"
    skipping = form | {"gap": "skip", "limit": 100}
    fires = (await office.http.post("/v1/schedules/preview", json=skipping)).json()["fires"]
    assert [one["skip"] for one in fires if one["skip"]] == ["dst_gap"]


async def test_a_job_is_previewed(office: Office) -> None:
    job = await office.job(cron="0 9 * * *")
    fires = (await office.http.get(f"/v1/jobs/{job['job_id']}/preview?limit=3")).json()["fires"]
    assert [one["local_time"][11:] for one in fires] == ["09:00:00+00:00"] * 3
