"""Workflows over HTTP, from the literal example of the seeds to an approval."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from gnomon.core.executions.execution import Failure
from gnomon.core.executions.lifecycle import Cancelled, Failed, Succeeded
from gnomon.core.values.document import Document
from tests.integration.api.conftest import Office
from tests.integration.api.dags import EXAMPLE, made, triggered

KINDS = ["extract_data", "transform_data", "load_data", "send_notification"]


async def test_the_example_of_the_seeds_works_as_it_stands(office: Office) -> None:
    dag = await made(office)
    assert (dag["status"], dag["revision"], dag["definition"]) == ("ACTIVE", 1, EXAMPLE)
    assert dag["next_run_time"].endswith("T02:00:00Z")

    run = await triggered(office, dag)
    assert (run["status"], run["tasks"], run["tasks_left"]) == ("RUNNING", 4, 4)
    for kind in KINDS:
        [leased] = await office.claim(kinds=[kind])
        await office.end(leased, Succeeded())

    found = (await office.http.get(f"/v1/dag-runs/{run['dag_run_id']}")).json()
    assert (found["status"], found["tasks_completed"]) == ("COMPLETED", 4)
    tasks = (await office.http.get(f"/v1/dag-runs/{run['dag_run_id']}/tasks")).json()["tasks"]
    assert [(task["name"], task["status"]) for task in tasks] == [
        (task["name"], "COMPLETED") for task in EXAMPLE["tasks"]
    ]
    runs = (await office.http.get(f"/v1/dags/{dag['dag_id']}/runs")).json()["runs"]
    assert [one["dag_run_id"] for one in runs] == [run["dag_run_id"]]


async def test_a_workflow_is_listed_changed_and_deleted(office: Office) -> None:
    dag = await made(office)
    path = f"/v1/dags/{dag['dag_id']}"
    assert [one["name"] for one in (await office.http.get("/v1/dags")).json()["dags"]] == ["etl-pipeline"]

    shorter = EXAMPLE | {"tasks": EXAMPLE["tasks"][:2]}
    changed = await office.http.put(path, json=shorter | {"version": 1})
    assert (changed.status_code, changed.json()["revision"]) == (200, 2)
    stale = await office.http.put(path, json=EXAMPLE | {"version": 1})
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "VERSION_CONFLICT")
    revisions = (await office.http.get(f"{path}/revisions")).json()["revisions"]
    assert [(one["revision"], one["tasks"]) for one in revisions] == [(2, 2), (1, 4)]

    assert (await office.http.post(f"{path}/pause")).json()["status"] == "PAUSED"
    assert (await office.http.post(f"{path}/resume")).json()["status"] == "ACTIVE"
    assert (await office.http.delete(path)).json()["status"] == "DELETED"
    assert (await office.http.get("/v1/dags")).json()["dags"] == []


async def test_the_job_of_a_workflow_shows_its_runs_and_not_their_tasks(office: Office) -> None:
    dag = await made(office)
    path = f"/v1/jobs/{dag['dag_id']}"
    first, second = [await triggered(office, dag) for _ in range(2)]
    [one, two] = await office.claim(kinds=KINDS)
    by_run = {str(seen["dag_run_id"]): seen for seen in (first, second)}
    assert (await office.http.get(path)).json()["current_run"]["run_id"] in by_run

    await office.http.post(f"/v1/dag-runs/{second['dag_run_id']}/cancel")
    await office.end(one, Cancelled())
    await office.end(two, Cancelled())

    job = (await office.http.get(path)).json()
    assert (job["last_run"]["run_id"], job["last_run"]["status"]) == (second["dag_run_id"], "CANCELLED")
    assert job["retry_count"] == 0


async def test_a_circle_is_named_task_by_task(office: Office) -> None:
    tasks = [
        {"name": "a", "kind": "echo", "depends_on": ["b"]},
        {"name": "b", "kind": "echo", "depends_on": ["a"]},
    ]
    answer = await office.http.post("/v1/dags", json={"name": "x", "tasks": tasks})

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_DAG")
    assert "a -> b -> a" in answer.json()["error"]["message"]
    assert (await office.http.get("/v1/dags")).json()["dags"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"tasks": []}, "name"),
        ({"name": "x"}, "tasks"),
        ({"name": "x", "tasks": []}, "tasks"),
        ({"name": "x", "tasks": [{"name": "a", "kind": "k", "colour": 1}]}, "tasks.a.colour"),
        ({"name": "x", "tasks": [{"name": "a", "kind": "k"}], "colour": 1}, "colour"),
        ({"name": "x", "tasks": [{"name": "a"}]}, "tasks.a.kind"),
    ],
)
async def test_what_is_wrong_is_named(office: Office, body: dict[str, Any], field: str) -> None:
    answer = await office.http.post("/v1/dags", json=body)

    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["field"] == field


async def test_a_person_approves_with_a_note(office: Office) -> None:
    dag = await made(
        office,
        cron_expression=None,
        timezone=None,
        tasks=[{"name": "gate", "approval": {}}, {"name": "go", "kind": "echo", "depends_on": ["gate"]}],
    )
    run = await triggered(office, dag)
    path = f"/v1/dag-runs/{run['dag_run_id']}"
    answer = await office.http.post(f"{path}/tasks/gate/approve", json={"note": "fine"})
    assert answer.status_code == 200, answer.text

    [gate, go] = (await office.http.get(f"{path}/tasks")).json()["tasks"]
    assert (gate["status"], gate["result"]["note"], go["status"]) == ("COMPLETED", "fine", "RELEASED")
    again = await office.http.post(f"{path}/tasks/gate/approve")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "ILLEGAL_TRANSITION")
    unknown = await office.http.post(f"{path}/tasks/nobody/approve")
    assert unknown.status_code == 400


async def test_a_run_is_paused_cancelled_and_run_again(office: Office) -> None:
    dag = await made(office)
    run = await triggered(office, dag, config={"day": 1})
    path = f"/v1/dag-runs/{run['dag_run_id']}"
    assert run["config"] == {"day": 1}

    assert (await office.http.post(f"{path}/pause")).json()["status"] == "PAUSED"
    assert await office.claim(kinds=KINDS) == []
    assert (await office.http.post(f"{path}/resume")).json()["status"] == "RUNNING"
    assert (await office.http.post(f"{path}/cancel")).json()["status"] == "CANCELLED"
    assert (await office.http.post(f"{path}/rerun")).json()["status"] == "RUNNING"
    assert (await office.http.post(f"{path}/rerun", json={"tasks": ["extract"]})).status_code == 409
    [leased] = await office.claim(kinds=KINDS)
    await office.end(leased, Succeeded(Document("{}")))
    assert (await office.http.get(path)).json()["tasks_completed"] == 1


async def test_what_is_done_to_a_run_that_is_not_there_gets_its_answer(office: Office) -> None:
    run = await triggered(office, await made(office))
    for action in ("pause", "resume", "rerun"):
        missing = await office.http.post(f"/v1/dag-runs/{uuid4()}/{action}")
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "DAG_RUN_NOT_FOUND")

    assert (await office.http.get(f"/v1/dag-runs/{run['dag_run_id']}")).json()["status"] == "RUNNING"


async def test_an_event_is_told_to_who_waits_for_it(office: Office) -> None:
    dag = await made(
        office,
        cron_expression=None,
        timezone=None,
        tasks=[{"name": "paid", "event": {"name": "payment", "correlation": "7"}}],
    )
    run = await triggered(office, dag)

    event = {"name": "payment", "correlation": "7", "data": {"euro": 5}}
    assert (await office.http.post("/v1/dag-events", json=event)).json() == {"taken_by": 1}
    assert (await office.http.post("/v1/dag-events", json=event)).json() == {"taken_by": 0}
    assert (await office.http.get(f"/v1/dag-runs/{run['dag_run_id']}")).json()["status"] == "COMPLETED"


async def test_a_workflow_is_not_changed_as_a_job(office: Office) -> None:
    dag = await made(office)

    answer = await office.http.put(f"/v1/jobs/{dag['dag_id']}", json={"name": "another"})
    assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, "job_id")
    made_up = await office.http.post("/v1/jobs", json={"name": "x", "kind": "gnomon.dag"})
    assert made_up.status_code == 400
    missing = await office.http.get("/v1/dags/nowhere")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "DAG_NOT_FOUND")
    lost = await office.http.get("/v1/dag-runs/nowhere")
    assert (lost.status_code, lost.json()["error"]["code"]) == (404, "DAG_RUN_NOT_FOUND")


async def test_a_run_of_a_workflow_is_explained_by_its_tasks(office: Office) -> None:
    run = await triggered(office, await made(office))
    tasks = (await office.http.get(f"/v1/dag-runs/{run['dag_run_id']}/tasks")).json()["tasks"]

    found = (await office.http.get(f"/v1/executions/{run['dag_run_id']}/explain")).json()

    assert [(one["code"], one["message"]) for one in found["reasons"]] == [
        ("tasks_under_way", "1 of its 4 tasks is under way: 'extract'.")
    ]
    [waiting] = found["executions"]
    assert waiting["execution_id"] == tasks[0]["execution_ids"][0]
    assert [one["code"] for one in waiting["reasons"]] == ["no_worker"]


async def test_a_run_tells_how_many_of_its_tasks_did_not_run(office: Office) -> None:
    never = {"value_of": "${config.full}", "value": True}
    tasks = [
        {"name": "a", "kind": "extract_data", "max_retries": 0},
        {"name": "skipped", "kind": "load_data", "condition": never},
        {"name": "blocked", "kind": "load_data", "depends_on": ["a"]},
        {"name": "b", "kind": "extract_data"},
    ]
    run = await triggered(office, await made(office, tasks=tasks, config={"full": False}))
    assert (run["tasks"], run["tasks_left"], run["tasks_running"], run["tasks_skipped"]) == (4, 3, 2, 1)

    first, _ = await office.claim(kinds=KINDS)
    await office.end(first, Failed(Failure("boom", "No.")))

    found = (await office.http.get(f"/v1/dag-runs/{run['dag_run_id']}")).json()
    assert (found["tasks_failed"], found["tasks_left"], found["tasks_skipped"]) == (1, 1, 2)
