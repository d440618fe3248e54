"""Lists of executions of a period over HTTP: each execution is on exactly one page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.integration.api.conftest import Office, problem

MINUTE = timedelta(minutes=1)


async def test_runs_of_a_period_are_listed_page_by_page(office: Office) -> None:
    job = await office.job()
    made = []
    for _ in range(10):
        made.append((await office.run(job["job_id"]))["execution_id"])
        office.clock.advance(MINUTE)
    end = office.clock.now()
    period = {"since": (end - 8 * MINUTE).isoformat(), "until": (end - 2 * MINUTE).isoformat(), "limit": 4}
    for path in ("/v1/executions", f"/v1/jobs/{job['job_id']}/executions"):
        found, cursor = list[str](), None
        while True:
            asked: dict[str, Any] = {**period, **({} if cursor is None else {"cursor": cursor})}
            page = (await office.http.get(path, params=asked)).json()
            found += [one["execution_id"] for one in page["executions"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
            await office.run(job["job_id"])  # What is made meanwhile is in no page.
        assert found == made[2:8][::-1]


async def test_a_cursor_of_one_period_does_not_fit_another(office: Office) -> None:
    job = await office.job()
    for _ in range(3):
        await office.run(job["job_id"])
    first = await office.http.get("/v1/executions", params={"since": "2020-01-01T00:00:00Z", "limit": 1})
    cursor = first.json()["next_cursor"]

    other = await office.http.get(
        "/v1/executions", params={"since": "2021-01-01T00:00:00Z", "cursor": cursor}
    )

    assert problem(other) == (400, "INVALID_INPUT")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("since=2h", "since"),
        ("until=2030-01-01", "until"),
        ("since=2030-01-01T00:00:00Z&until=2030-01-01T00:00:00Z", "until"),
    ],
)
async def test_a_period_that_makes_no_sense_is_refused(small_office: Office, query: str, field: str) -> None:
    answer = await small_office.http.get(f"/v1/executions?{query}")
    assert problem(answer) == (400, "INVALID_INPUT")
    assert answer.json()["error"]["details"]["field"] == field
