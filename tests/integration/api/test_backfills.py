"""Backfills over HTTP, and what changed between revisions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from gnomon.core.executions.lifecycle import Succeeded
from tests.integration.api.conftest import Office

DAILY: dict[str, Any] = {
    "name": "daily",
    "cron_expression": "0 2 * * *",
    "timezone": "Europe/Berlin",
    "tasks": [{"name": "load", "kind": "echo"}],
}
FIVE_DAYS = {"start": "2025-12-01", "end": "2025-12-05"}


async def made(office: Office, **changes: Any) -> str:
    office.clock.advance(timedelta(hours=12))
    answer = await office.http.post("/v1/dags", json=DAILY | changes)
    assert answer.status_code == 201, answer.text
    return f"/v1/dags/{answer.json()['dag_id']}"


async def asked(office: Office, dag: str, **more: Any) -> dict[str, Any]:
    answer = await office.http.post(f"{dag}/backfills", json=FIVE_DAYS | more)
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def work_off(office: Office) -> int:
    count = 0
    while leased := await office.claim(kinds=["echo"]):
        for one in leased:
            await office.end(one, Succeeded())
            count += 1
    return count


async def test_a_dry_run_counts_and_keeps_nothing(office: Office) -> None:
    dag = await made(office)
    answer = await office.http.post(f"{dag}/backfills/preview", json=FIVE_DAYS)

    plan = answer.json()
    assert (answer.status_code, plan["count"], plan["left_out"]) == (200, 5, {})
    # Days of the zone of the schedule: midnight in Berlin is eleven in the evening in Greenwich.
    assert (plan["start"], plan["first_times"][0]) == ("2025-11-30T23:00:00Z", "2025-12-01T01:00:00Z")
    assert (await office.http.get(f"{dag}/backfills")).json()["backfills"] == []
    assert await office.claim(kinds=["echo"]) == []


async def test_a_backfill_runs_pauses_goes_on_and_ends(office: Office) -> None:
    dag = await made(office)
    backfill = await asked(office, dag, concurrency=2, priority=1, config={"n": 1})
    path = f"/v1/backfills/{backfill['backfill_id']}"
    assert (backfill["status"], backfill["total"], backfill["running"]) == ("RUNNING", 5, 2)

    assert (await office.http.post(f"{path}/pause")).json()["status"] == "PAUSED"
    assert await work_off(office) == 2
    assert (await office.http.post(f"{path}/resume")).json()["running"] == 2
    assert await work_off(office) == 3

    done = (await office.http.get(path)).json()
    assert (done["status"], done["completed"], done["waiting"]) == ("COMPLETED", 5, 0)
    page = (await office.http.get(f"{path}/runs", params={"limit": 3})).json()
    rest = (await office.http.get(f"{path}/runs", params={"after": page["next_after"]})).json()
    times = page["runs"] + rest["runs"]
    assert [one["nominal_time"][:10] for one in times] == [f"2025-12-0{n}" for n in range(1, 6)]
    run = (await office.http.get(f"/v1/dag-runs/{times[0]['dag_run_id']}")).json()
    assert (run["status"], run["config"], run["nominal_time"]) == (
        "COMPLETED",
        {"n": 1},
        "2025-12-01T01:00:00Z",
    )
    assert run["backfill_id"] == backfill["backfill_id"]
    assert [
        one["backfill_id"] for one in (await office.http.get(f"{dag}/backfills")).json()["backfills"]
    ] == [backfill["backfill_id"]]

    again = (await office.http.post(f"{dag}/backfills/preview", json=FIVE_DAYS)).json()
    assert (again["count"], again["left_out"]) == (0, {"exists": 5})
    refused = await office.http.post(f"{path}/pause")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "ILLEGAL_TRANSITION")


async def test_a_cancelled_backfill_takes_its_runs_with_it(office: Office) -> None:
    backfill = await asked(office, await made(office), concurrency=2)
    path = f"/v1/backfills/{backfill['backfill_id']}"

    assert (await office.http.post(f"{path}/cancel")).json()["status"] == "CANCELLED"

    assert await office.claim(kinds=["echo"]) == []
    [first, *_] = (await office.http.get(f"{path}/runs")).json()["runs"]
    assert (await office.http.get(f"/v1/dag-runs/{first['dag_run_id']}")).json()["status"] == "CANCELLED"


async def test_two_backfills_for_the_same_times_are_refused(office: Office) -> None:
    dag = await made(office)
    first = await asked(office, dag)

    second = await office.http.post(f"{dag}/backfills", json=FIVE_DAYS)

    error = second.json()["error"]
    assert (second.status_code, error["code"]) == (409, "BACKFILL_OVERLAPS")
    assert error["details"] == {"backfill_id": first["backfill_id"]}
    key = {"Idempotency-Key": "once"}
    later = {"start": "2025-12-10", "end": "2025-12-11"}
    answers = [await office.http.post(f"{dag}/backfills", json=later, headers=key) for _ in range(2)]
    assert {answer.json()["backfill_id"] for answer in answers} == {answers[0].json()["backfill_id"]}


async def test_what_the_schedule_comes_to_by_itself_is_left_to_it(office: Office) -> None:
    dag = await made(office)
    office.clock.advance(timedelta(days=2))  # Nobody has fired since.

    plan = await office.http.post(
        f"{dag}/backfills/preview", json={"start": "2025-12-31", "end": "2026-02-01"}
    )

    assert (plan.json()["count"], plan.json()["left_out"]) == (2, {"scheduled": 2})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"end": "2025-12-05"}, "start"),
        ({"start": "2025-12-05", "end": "2025-12-01"}, "end"),
        ({"start": "2025-13-01", "end": "2025-12-01"}, "start"),
        ({"start": "yesterday", "end": "2025-12-01"}, "start"),
        ({"start": "0001-01-01", "end": "2025-12-01"}, "start"),
        ({"start": "1970-01-01", "end": "9999-12-31"}, "end"),
        ({"start": "2027-01-01", "end": "2027-01-02"}, "start"),
        (FIVE_DAYS | {"concurrency": 0}, "concurrency"),
        (FIVE_DAYS | {"concurrency": 101}, "concurrency"),
        (FIVE_DAYS | {"priority": 10}, "priority"),
        (FIVE_DAYS | {"existing": "some"}, "existing"),
        (FIVE_DAYS | {"colour": 1}, "colour"),
        (FIVE_DAYS | {"config": 7}, "config"),
    ],
)
async def test_what_is_wrong_is_named(office: Office, body: dict[str, Any], field: str) -> None:
    answer = await office.http.post(f"{await made(office)}/backfills", json=body)

    assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, field)


async def test_a_backfill_needs_times_and_an_id_that_exists(office: Office) -> None:
    dag = await made(office, cron_expression=None, timezone=None)
    answer = await office.http.post(f"{dag}/backfills", json=FIVE_DAYS)
    assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, "schedule")
    for path in (f"/v1/backfills/{uuid4()}", "/v1/backfills/nowhere"):
        missing = await office.http.get(path)
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "BACKFILL_NOT_FOUND")
    lost = await office.http.post(f"/v1/dags/{uuid4()}/backfills", json=FIVE_DAYS)
    assert (lost.status_code, lost.json()["error"]["code"]) == (404, "DAG_NOT_FOUND")


async def test_revisions_are_told_apart(office: Office) -> None:
    dag = await made(office)
    tasks = [{"name": "load", "kind": "echo", "priority": 7}, {"name": "tell", "kind": "echo"}]
    await office.http.put(dag, json=DAILY | {"tasks": tasks})
    await office.http.put(dag, json=DAILY | {"tasks": tasks[1:], "cron_expression": "0 3 * * *"})

    last = (await office.http.get(f"{dag}/diff")).json()
    assert (last["from_revision"], last["to_revision"], last["tasks_removed"]) == (2, 3, ["load"])
    assert last["fields"] == {"cron_expression": {"before": "0 2 * * *", "after": "0 3 * * *"}}
    first = (await office.http.get(f"{dag}/diff", params={"from": 1, "to": 2})).json()
    assert (first["tasks_added"], first["tasks_changed"]) == (
        ["tell"],
        [{"name": "load", "fields": {"priority": {"before": None, "after": 7}}}],
    )
    same = (await office.http.get(f"{dag}/diff", params={"from": 2, "to": 2})).json()
    assert not any(same[name] for name in ("fields", "tasks_added", "tasks_removed", "tasks_changed"))
    for number in (0, 4, -1, 2**40):
        missing = await office.http.get(f"{dag}/diff", params={"to": number})
        assert missing.status_code == 404, number
    assert (await office.http.get(f"{dag}/diff", params={"to": "x"})).status_code == 400
