"""Calendars over HTTP: kept, and what they do to the times of jobs and workflows that name them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gnomon.core.time.calendars import DATES_MAX
from gnomon.engine.schedulers.scheduler import AHEAD, Scheduler
from gnomon.engine.telemetry import Telemetry
from tests.integration.api.conftest import Office, problem

HOLIDAYS = "/v1/calendars/holidays"
NINE = {"cron": "0 9 * * *", "timezone": "America/New_York", "calendar": "holidays"}


async def put(office: Office, *dates: str, path: str = HOLIDAYS, **headers: str) -> Any:
    answer = await office.http.put(path, json={"dates": list(dates)}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def outcomes(office: Office, job_id: str) -> list[tuple[str, str | None]]:
    """Of each time, oldest first: the day, and why it was skipped."""
    found = (await office.http.get(f"/v1/jobs/{job_id}/occurrences")).json()["occurrences"]
    return [(one["nominal_time"][:10], one["reason"]) for one in reversed(found)]


def advance_to(office: Office, at: str, *, less: timedelta = timedelta(0)) -> datetime:
    """The moment at which a job with that `next_run_time` is due, or a bit before."""
    due = datetime.fromisoformat(at).astimezone(UTC)
    office.clock.advance(due - less - office.clock.now())
    return due


async def test_a_calendar_is_made_read_replaced_and_deleted(office: Office) -> None:
    assert problem(await office.http.get(HOLIDAYS)) == (404, "CALENDAR_NOT_FOUND")
    made = await put(office, "2030-12-25", "2030-01-01", "2030-12-25")
    assert (made["name"], made["dates"], made["version"]) == ("holidays", ["2030-01-01", "2030-12-25"], 1)
    assert (await put(office, "2030-01-01", "2030-12-25"))["version"] == 1

    changed = await put(office, "2031-01-01", **{"If-Match": '"1"'})
    assert changed["version"] == 2
    stale = await office.http.put(HOLIDAYS, json={"dates": []}, headers={"If-Match": '"1"'})
    assert problem(stale) == (409, "VERSION_CONFLICT")
    read = await office.http.get(HOLIDAYS)
    assert (read.json(), read.headers["etag"]) == (changed, '"2"')
    [listed] = (await office.http.get("/v1/calendars")).json()["calendars"]
    assert (listed["name"], listed["date_count"], listed["version"]) == ("holidays", 1, 2)

    assert problem(await office.http.delete(HOLIDAYS, headers={"If-Match": "1"})) == (409, "VERSION_CONFLICT")
    assert (await office.http.delete(HOLIDAYS, headers={"If-Match": "2"})).json() == changed
    assert problem(await office.http.delete(HOLIDAYS)) == (404, "CALENDAR_NOT_FOUND")


async def test_a_put_with_its_key_happens_once(office: Office) -> None:
    once = {"Idempotency-Key": "once"}
    await put(office, "2030-01-01", **once)
    second = await put(office, "2030-12-25")

    assert await put(office, "2030-01-01", **once) == second
    other = await office.http.put(HOLIDAYS, json={"dates": []}, headers=once)
    assert problem(other) == (409, "IDEMPOTENCY_CONFLICT")


@pytest.mark.parametrize("name", ["two words", "a/b", "50% off", "é"])
async def test_a_name_may_be_any_text(small_office: Office, name: str) -> None:
    path = "/v1/calendars/" + "".join(f"%{byte:02x}" for byte in name.encode())
    assert (await put(small_office, "2030-01-01", path=path))["name"] == name
    assert (await small_office.http.get(path)).json()["name"] == name


@pytest.mark.parametrize("name", ["%00", "x" * 256, "%0a"])
async def test_a_name_that_none_can_have_is_refused_where_one_is_made_and_unknown_elsewhere(
    small_office: Office, name: str
) -> None:
    path = f"/v1/calendars/{name}"
    refused = await small_office.http.put(path, json={"dates": []})

    assert problem(refused) == (400, "INVALID_INPUT")
    assert refused.json()["error"]["details"]["field"] == "name"
    assert problem(await small_office.http.get(path)) == (404, "CALENDAR_NOT_FOUND")
    assert problem(await small_office.http.delete(path)) == (404, "CALENDAR_NOT_FOUND")


@pytest.mark.parametrize(
    ("dates", "field"),
    [
        (["2030-02-30"], "dates[0]"),
        (["2030-01-01", "20300102"], "dates[1]"),
        (["2030-01-01T00:00:00Z"], "dates[0]"),
        (["1969-12-31"], "dates"),
        (["2200-01-01"], "dates"),
        (["tomorrow"], "dates[0]"),
        ([1], "dates[0]"),
        ("2030-01-01", "dates"),
    ],
)
async def test_a_date_that_makes_no_sense_is_refused_with_its_place(
    small_office: Office, dates: Any, field: str
) -> None:
    answer = await small_office.http.put(HOLIDAYS, json={"dates": dates})
    assert problem(answer) == (400, "INVALID_INPUT")
    assert answer.json()["error"]["details"]["field"] == field


async def test_there_are_not_more_dates_than_a_scheduler_can_go_over(office: Office) -> None:
    day = datetime(2030, 1, 1, tzinfo=UTC).date()
    dates = [str(day + timedelta(days=number)) for number in range(DATES_MAX + 1)]
    too_many = await office.http.put(HOLIDAYS, json={"dates": dates})
    assert problem(too_many) == (400, "INVALID_INPUT")
    assert len((await put(office, *dates[1:]))["dates"]) == DATES_MAX


async def test_a_calendar_that_a_schedule_names_is_kept(office: Office) -> None:
    await put(office)
    job = await office.job(**NINE)
    task = {"name": "a", "kind": "report"}
    dag = await office.http.post(
        "/v1/dags", json={"name": "nightly", "tasks": [task], "schedule": {"type": "cron", **NINE}}
    )
    assert dag.status_code == 201, dag.text

    kept = await office.http.delete(HOLIDAYS)
    assert problem(kept) == (409, "CALENDAR_IN_USE")
    assert kept.json()["error"]["details"] == {"name": "holidays", "users": ["nightly", "report"]}

    await office.http.delete(f"/v1/jobs/{job['job_id']}")
    await office.http.delete(f"/v1/dags/{dag.json()['dag_id']}")
    assert (await office.http.delete(HOLIDAYS)).status_code == 200
    gone = await office.http.post("/v1/jobs", json={"name": "again", "kind": "report", **NINE})
    assert problem(gone) == (404, "CALENDAR_NOT_FOUND")


async def test_a_change_counts_for_the_next_time_although_that_was_computed_before(office: Office) -> None:
    await put(office)
    job = await office.job(**NINE)
    first = job["next_run_time"]
    await put(office, first[:10])
    assert (await office.http.get(f"/v1/jobs/{job['job_id']}")).json()["next_run_time"] == first

    due = advance_to(office, first)
    await office.fire()
    await put(office, str((due + timedelta(days=2)).date()))
    for _ in range(3):
        office.clock.advance(timedelta(days=1))
        await office.fire()

    days = [str((due + timedelta(days=number)).date()) for number in range(4)]
    assert await outcomes(office, job["job_id"]) == list(
        zip(days, ["calendar", None, "calendar", None], strict=True)
    )


@pytest.mark.parametrize("is_closed_at_last", [True, False])
async def test_a_change_counts_for_a_time_that_a_scheduler_has_looked_at_ahead(
    office: Office, is_closed_at_last: bool
) -> None:
    await put(office)
    job = await office.job(**NINE)
    day = job["next_run_time"][:10]
    await put(office, *([] if is_closed_at_last else [day]))
    scheduler = Scheduler(
        schedules=office.store.schedules,
        clock=office.clock,
        ids=office.ids,
        telemetry=Telemetry(),
        fired=lambda: None,
    )
    advance_to(office, job["next_run_time"], less=AHEAD / 2)
    await scheduler.step()
    await put(office, *([day] if is_closed_at_last else []))
    office.clock.advance(AHEAD / 2)
    for _ in range(3):
        await scheduler.step()

    expected = "calendar" if is_closed_at_last else None
    assert await outcomes(office, job["job_id"]) == [(day, expected)]


async def test_a_closed_time_is_told_before_and_after_it_is_skipped(office: Office) -> None:
    await put(office)
    job = await office.job(**NINE)
    url, first = f"/v1/jobs/{job['job_id']}", job["next_run_time"]
    assert (await office.http.get(url)).json()["next_run_skip"] is None
    await put(office, first[:10])

    assert (await office.http.get(url)).json()["next_run_skip"] == "calendar"
    fires = (await office.http.get(f"{url}/preview", params={"limit": 2})).json()["fires"]
    assert [fire["skip"] for fire in fires] == ["calendar", None]
    before = (await office.http.get(f"{url}/explain")).json()["reasons"]
    assert [one["code"] for one in before] == ["not_due", "calendar"]
    assert "will be skipped: the calendar 'holidays' excludes the date" in before[1]["message"]

    advance_to(office, first)
    await office.fire()
    assert (await office.http.get(url)).json()["next_run_skip"] is None
    after = (await office.http.get(f"{url}/explain")).json()["reasons"]
    assert [one["code"] for one in after] == ["not_due", "calendar"]
    assert "was skipped" in after[1]["message"]
    assert after[1]["details"]["calendar"] == "holidays"
    assert datetime.fromisoformat(after[1]["details"]["nominal_time"]) == datetime.fromisoformat(first)


async def test_a_workflow_tells_that_its_calendar_takes_its_next_time_out(office: Office) -> None:
    await put(office)
    task = {"name": "a", "kind": "report"}
    made = await office.http.post(
        "/v1/dags", json={"name": "nightly", "tasks": [task], "schedule": {"type": "cron", **NINE}}
    )
    dag = made.json()
    assert dag["next_run_skip"] is None
    await put(office, dag["next_run_time"][:10])

    url = f"/v1/dags/{dag['dag_id']}"
    assert (await office.http.get(url)).json()["next_run_skip"] == "calendar"
    advance_to(office, dag["next_run_time"])
    await office.fire()
    assert await outcomes(office, dag["dag_id"]) == [(dag["next_run_time"][:10], "calendar")]
    assert (await office.http.get(f"{url}/runs")).json()["runs"] == []
