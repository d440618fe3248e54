"""What HTTP tells of workflows: one revision, those with a tag, and why a task failed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from gnomon.core.executions.execution import Failure
from gnomon.core.executions.lifecycle import Failed
from tests.integration.api.conftest import Office
from tests.integration.api.dags import made, triggered

BROKEN = Failed(Failure("boom", "the disk is full"), permanent=True)
UNSCHEDULED = {"cron_expression": None, "timezone": None}


async def tasks_of(office: Office, run: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await office.http.get(f"/v1/dag-runs/{run['dag_run_id']}/tasks")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["tasks"]
    return found


async def test_one_revision_is_found_by_its_number(office: Office) -> None:
    dag = await made(office)
    path = f"/v1/dags/{dag['dag_id']}"
    shorter = dag["definition"] | {"tasks": dag["definition"]["tasks"][:2]}
    await office.http.put(path, json=shorter)

    first = await office.http.get(f"{path}/revisions/1")
    assert (first.status_code, first.json()["definition"]) == (200, dag["definition"])
    assert (await office.http.get(f"{path}/revisions/2")).json()["tasks"] == 2
    for nothing in ("3", "0", "-1", "x", "9" * 30, "٣"):
        missing = await office.http.get(f"{path}/revisions/{nothing}")
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "DAG_NOT_FOUND")


async def test_workflows_are_found_by_a_tag(office: Office) -> None:
    await made(office, name="plain")
    await made(office, name="nightly", tags=["etl"])

    found = (await office.http.get("/v1/dags", params={"tag": "etl"})).json()["dags"]
    assert [one["name"] for one in found] == ["nightly"]
    assert (await office.http.get("/v1/dags", params={"tag": ""})).status_code == 400


async def test_a_failed_task_says_why_and_when(office: Office) -> None:
    dag = await made(office)
    run = await triggered(office, dag)
    [leased] = await office.claim(kinds=["extract_data"])
    await office.end(leased, BROKEN)

    [extract, transform, *_] = await tasks_of(office, run)

    assert extract["error"] == {"kind": "boom", "message": "the disk is full"}
    assert (extract["error_message"], extract["attempt_number"]) == ("the disk is full", 1)
    assert extract["started_at"] is not None
    assert extract["completed_at"] is not None
    assert (transform["error_message"], transform["started_at"]) == (None, None)


async def test_a_failed_run_inside_of_a_task_is_named(office: Office) -> None:
    await made(office, name="inner", tasks=[{"name": "a", "kind": "echo"}], **UNSCHEDULED)
    outer = await made(office, name="outer", tasks=[{"name": "in", "dag": "inner"}], **UNSCHEDULED)
    run = await triggered(office, outer)
    [leased] = await office.claim(kinds=["echo"])
    await office.end(leased, BROKEN)

    [task] = await tasks_of(office, run)

    assert task["status"] == "FAILED"
    assert task["error"]["kind"] == "dag_run"
    assert task["execution_ids"][0] in task["error_message"]
    inner = await office.http.get(f"/v1/dag-runs/{task['execution_ids'][0]}")
    assert inner.json()["status"] == "FAILED"


async def test_what_a_task_waits_for_is_told(office: Office) -> None:
    tasks = [
        {"name": "paid", "event": {"name": "payment", "correlation": "7"}},
        {"name": "release", "approval": {}},
    ]
    run = await triggered(office, await made(office, tasks=tasks, **UNSCHEDULED))

    assert [one["waits_for"] for one in await tasks_of(office, run)] == [
        {"event": "payment", "correlation": "7", "until": None},
        {"event": None, "correlation": None, "until": None},
    ]


async def test_runs_are_found_by_their_status(office: Office) -> None:
    dag = await made(office)
    first, second = [await triggered(office, dag) for _ in range(2)]
    await office.http.post(f"/v1/dag-runs/{first['dag_run_id']}/cancel")
    path = f"/v1/dags/{dag['dag_id']}/runs"

    runs = (await office.http.get(path, params={"status": "RUNNING"})).json()["runs"]
    assert [one["dag_run_id"] for one in runs] == [second["dag_run_id"]]
    assert (await office.http.get(path, params={"status": "LOST"})).status_code == 400


async def test_a_bound_of_a_backfill_that_is_no_time_may_be_a_day(office: Office) -> None:
    dag = await made(office)
    asked = {"start": "x", "end": "2026-01-01"}
    answer = await office.http.post(f"/v1/dags/{dag['dag_id']}/backfills/preview", json=asked)
    assert answer.status_code == 400
    assert "A day, such as 2026-03-29, will do, too." in answer.json()["error"]["message"]


async def test_a_workflow_is_answered_with_the_fields_of_the_original_form(office: Office) -> None:
    dag = await made(office, config={"day": 3})
    run = await triggered(office, dag)
    read = (await office.http.get(f"/v1/dags/{dag['dag_id']}")).json()
    [listed] = (await office.http.get("/v1/dags")).json()["dags"]

    for answer in (dag, read, listed):
        assert (answer["cron_expression"], answer["timezone"]) == ("0 2 * * *", "UTC")
    assert dag["config"] == read["config"] == {"day": 3}
    ids = {one["name"]: one["task_id"] for one in read["tasks"]}
    assert [one["dependencies"] for one in read["tasks"]] == [[], ["extract"], ["transform"], ["load"]]
    assert len({UUID(one) for one in ids.values()}) == 4
    assert {one["name"]: one["task_id"] for one in await tasks_of(office, run)} == ids

    changed = dag["definition"] | {"tasks": dag["definition"]["tasks"][:2]} | UNSCHEDULED
    after = (await office.http.put(f"/v1/dags/{dag['dag_id']}", json=changed)).json()

    assert (after["cron_expression"], after["timezone"]) == (None, None)
    assert {one["name"]: one["task_id"] for one in after["tasks"]} == {
        name: ids[name] for name in ("extract", "transform")
    }
