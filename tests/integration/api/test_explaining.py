"""Each cause over HTTP, and what a run of a workflow tells of its tasks and items."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from gnomon.core.executions.execution import Failure
from gnomon.core.executions.lifecycle import Cancelled, Failed, Outcome, Snoozed, Succeeded
from gnomon.core.values.document import Document
from gnomon.engine.workers.attempts import NOT_HERE
from tests.integration.api.conftest import Office

BOOM = Failed(Failure("boom", "No such table."))
TURNED_AWAY = Snoozed(NOT_HERE, has_started=False, failure=Failure("not_here", "No function named 'daily'."))
EACH = {
    "name": "each",
    "kind": "report",
    "depends_on": ["list"],
    "fan_out": {"over": "${tasks.list.result}"},
    "payload": {"of": "${item}"},
    "max_retries": 0,
}


async def told(office: Office, execution_id: str) -> dict[str, Any]:
    """The reasons by their codes."""
    found = (await office.http.get(f"/v1/executions/{execution_id}/explain")).json()
    return {one["code"]: one for one in found["reasons"]}


async def after_one_attempt(office: Office, outcome: Outcome, **job: Any) -> str:
    await office.register()
    made = await office.job(**job)
    run: str = (await office.run(made["job_id"]))["execution_id"]
    [leased] = await office.claim()
    await office.end(leased, outcome)
    return run


async def without_worker(office: Office) -> str:
    run: str = (await office.run((await office.job())["job_id"]))["execution_id"]
    return run


async def later(office: Office) -> str:
    await office.register()
    run: str = (await office.run((await office.job())["job_id"], delay_seconds=60))["execution_id"]
    return run


async def on_a_worker(office: Office) -> str:
    run: str = (await office.run((await office.job())["job_id"]))["execution_id"]
    await office.claim()
    return run


async def behind_others(office: Office) -> str:
    await office.register(slots=1)
    job = await office.job()
    await office.run(job["job_id"])
    run: str = (await office.run(job["job_id"]))["execution_id"]
    return run


async def without_slot(office: Office) -> str:
    await office.register()
    job = await office.job(max_concurrent=1)
    await office.run(job["job_id"])
    run: str = (await office.run(job["job_id"]))["execution_id"]
    return run


CAUSES: list[tuple[Callable[[Office], Awaitable[str]], str, str]] = [
    (without_worker, "no_worker", "No worker is alive. Start one: gnomon worker."),
    (later, "not_due", "It is not due before "),
    (on_a_worker, "running", "It runs on ada since "),
    (behind_others, "behind_others", "1 others come first, and ada has 1 free slots for them."),
    (without_slot, "waits_for_slot", "1 of the 1 runs that its job may have at once are there."),
    (
        lambda office: after_one_attempt(office, BOOM),
        "retry_backoff",
        "Attempt 1 of 3 failed (boom: No such table.). Its retry policy waits: the next attempt begins at ",
    ),
    (
        lambda office: after_one_attempt(office, Snoozed(timedelta(seconds=5))),
        "snoozed",
        "Its handler put it off until ",
    ),
    (
        lambda office: after_one_attempt(office, TURNED_AWAY),
        "no_function",
        "ada turned it away (not_here: No function named 'daily'.). It is offered again at ",
    ),
    (
        lambda office: after_one_attempt(office, BOOM, retry_policy={"max_attempts": 1}),
        "failed",
        "It ended as FAILED after attempt 1 of 1 (boom: No such table.). It does not run again by itself.",
    ),
    (
        lambda office: after_one_attempt(office, Cancelled()),
        "ended",
        "It has ended: CANCELLED. To run it again: gnomon run retry.",
    ),
]


@pytest.mark.parametrize(("arranged", "code", "message"), CAUSES, ids=[code for _, code, _ in CAUSES])
async def test_a_cause_is_told_with_its_code_and_its_text(
    office: Office, arranged: Callable[[Office], Awaitable[str]], code: str, message: str
) -> None:
    reasons = await told(office, await arranged(office))

    assert list(reasons) == [code]
    assert reasons[code]["message"].startswith(message)


async def test_a_failed_item_is_named_and_tasks_have_items_and_results(office: Office) -> None:
    listing = {"name": "list", "kind": "report"}
    dag = await office.http.post("/v1/dags", json={"name": "flow", "tasks": [listing, EACH]})
    run = (await office.http.post(f"/v1/dags/{dag.json()['dag_id']}/trigger", json={})).json()["dag_run_id"]
    [first] = await office.claim()
    await office.end(first, Succeeded(Document.of(["x", "y"], field="result")))
    by_item = {leased.payload.value["of"]: leased for leased in await office.claim()}  # type: ignore[index,call-overload]
    await office.end(by_item["y"], BOOM)

    reasons = await told(office, run)
    failed = str(by_item["y"].claim.execution_id)
    assert list(reasons) == ["tasks_under_way", "task_failed"]
    assert reasons["task_failed"]["details"]["execution_id"] == failed
    await office.end(by_item["x"], Succeeded(Document.of({"rows": 7}, field="result")))
    assert list(await told(office, run)) == ["task_failed"]

    listed, each = (await office.http.get(f"/v1/dag-runs/{run}/tasks")).json()["tasks"]
    assert (listed["result"], listed["items"], listed["failed_execution_id"]) == (["x", "y"], [], None)
    assert each["failed_execution_id"] == failed
    assert [(one["item"], one["status"], one["result"]) for one in each["items"]] == [
        (0, "COMPLETED", {"rows": 7}),
        (1, "FAILED", None),
    ]
    assert each["items"][1]["error"] == {"kind": "boom", "message": "No such table."}


async def test_a_long_result_is_left_out_of_the_list_and_whole_in_the_execution(office: Office) -> None:
    task = {"name": "big", "kind": "report"}
    dag = await office.http.post("/v1/dags", json={"name": "flow", "tasks": [task]})
    run = (await office.http.post(f"/v1/dags/{dag.json()['dag_id']}/trigger", json={})).json()["dag_run_id"]
    [leased] = await office.claim()
    await office.end(leased, Succeeded(Document.of("x" * 5000, field="result")))

    [big] = (await office.http.get(f"/v1/dag-runs/{run}/tasks")).json()["tasks"]

    assert (big["result"], big["result_is_left_out"]) == (None, True)
    whole = (await office.http.get(f"/v1/executions/{big['execution_ids'][0]}")).json()
    assert whole["result"] == "x" * 5000
