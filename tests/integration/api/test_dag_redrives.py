"""Tasks of workflows among the dead letters: redriven, they go on in their runs."""

from __future__ import annotations

from typing import Any

import pytest

from gnomon.core.executions.execution import Failure
from gnomon.core.executions.lifecycle import Failed, Succeeded
from tests.integration.api.conftest import Office
from tests.integration.api.dags import begun

BROKEN = Failed(Failure("Oops", "it broke"), permanent=True)
CHAIN: tuple[dict[str, Any], ...] = (
    {"name": "first", "kind": "echo"},
    {"name": "then", "kind": "echo", "depends_on": ["first"]},
)


async def fail_first(office: Office) -> tuple[str, str]:
    """The path of a run whose first task failed for good, and the id of that execution."""
    run = await begun(office, *CHAIN)
    [leased] = await office.claim(kinds=["echo"])
    await office.end(leased, BROKEN)
    assert (await office.http.get(run)).json()["status"] == "FAILED"
    return run, str(leased.claim.execution_id)


async def work_off(office: Office) -> int:
    count = 0
    while leased := await office.claim(kinds=["echo"]):
        for one in leased:
            await office.end(one, Succeeded())
            count += 1
    return count


@pytest.mark.parametrize("path", ["/v1/dlq/{}/redrive", "/v1/executions/{}/retry"])
async def test_a_task_that_failed_goes_on_in_its_run(office: Office, path: str) -> None:
    run, dead = await fail_first(office)

    again = (await office.http.post(path.format(dead))).json()

    assert f"/v1/dag-runs/{again['dag_run_id']}" == run
    assert (again["execution_id"], again["is_new"], again["revision"]) == (again["dag_run_id"], True, 1)
    assert await work_off(office) == 2
    assert (await office.http.get(run)).json()["status"] == "COMPLETED"
    repeated = (await office.http.post(path.format(dead))).json()
    assert (repeated["dag_run_id"], repeated["is_new"]) == (again["dag_run_id"], False)
    assert await work_off(office) == 0


async def test_all_that_is_redriven_is_not_what_was_repaired_before(office: Office) -> None:
    run, dead = await fail_first(office)
    await office.http.post(f"{run}/rerun")

    done = (await office.http.post("/v1/dlq/redrive", json={"all": True})).json()

    assert done == {"executions": [], "refused": []}
    assert (await office.http.get(f"/v1/dlq/{dead}")).json()["redriven_as"] is not None
    assert await work_off(office) == 2


async def test_a_task_whose_dead_letter_was_purged_still_goes_on_in_its_run(office: Office) -> None:
    run, dead = await fail_first(office)
    await office.http.delete(f"/v1/dlq/{dead}")

    again = (await office.http.post(f"/v1/executions/{dead}/retry")).json()

    assert again["is_new"]
    assert await work_off(office) == 2
    assert (await office.http.get(run)).json()["status"] == "COMPLETED"


async def test_a_run_of_which_a_task_failed_is_not_begun_anew_beside_its_dead_letter(office: Office) -> None:
    run, _ = await fail_first(office)

    refused = await office.http.post(f"/v1/executions/{run.rpartition('/')[2]}/retry")

    assert refused.status_code == 409
    assert "rerun it to go on from them" in refused.json()["error"]["message"]
    assert await work_off(office) == 0
    await office.http.post("/v1/dlq/redrive", json={"all": True})
    assert await work_off(office) == 2


async def test_a_run_that_ended_is_run_again_at_the_revision_that_the_answer_says(office: Office) -> None:
    run = await begun(office, *CHAIN)
    await work_off(office)
    dag_id = (await office.http.get(run)).json()["dag_id"]
    form = {"name": (await office.http.get(f"/v1/dags/{dag_id}")).json()["name"], "tasks": [CHAIN[0]]}
    assert (await office.http.put(f"/v1/dags/{dag_id}", json=form)).json()["revision"] == 2

    for said, revision in (({}, 2), ({"revision": "original"}, 1)):
        path = f"/v1/executions/{run.rpartition('/')[2]}/retry"
        made = (await office.http.post(path, json=said)).json()
        assert (made["is_new"], made["revision"]) == (True, revision)
        again = (await office.http.get(f"/v1/dag-runs/{made['execution_id']}")).json()
        assert (again["trigger"], again["revision"]) == ("redrive", revision)


async def test_a_task_that_succeeded_is_not_retried_by_itself(office: Office) -> None:
    run = await begun(office, *CHAIN)
    [leased] = await office.claim(kinds=["echo"])
    await office.end(leased, Succeeded())

    refused = await office.http.post(f"/v1/executions/{leased.claim.execution_id}/retry")

    assert refused.status_code == 409
    assert f"rerun it in its run {run.rpartition('/')[2]}" in refused.json()["error"]["message"]
    told = (await office.http.get(f"/v1/executions/{leased.claim.execution_id}/explain")).json()["reasons"]
    assert [one["message"] for one in told] == [
        "It has ended: COMPLETED. To run its task again: gnomon dag-run rerun."
    ]


async def test_tasks_of_a_workflow_that_is_gone_are_refused_one_by_one(office: Office) -> None:
    run, dead = await fail_first(office)
    dag_id = (await office.http.get(run)).json()["dag_id"]
    await office.http.delete(f"/v1/dags/{dag_id}")

    done = (await office.http.post("/v1/dlq/redrive", json={"all": True})).json()

    assert done["executions"] == []
    assert [one["execution_id"] for one in done["refused"]] == [dead]
    assert (await office.http.post(f"/v1/executions/{dead}/retry")).status_code == 409
    assert await work_off(office) == 0


async def test_lists_name_the_task_that_an_execution_is_for(office: Office) -> None:
    run, dead = await fail_first(office)
    run_id = run.rpartition("/")[2]

    [letter] = (await office.http.get("/v1/dlq")).json()["dead_letters"]
    listed = (await office.http.get("/v1/executions")).json()["executions"]
    shown = (await office.http.get(f"/v1/executions/{dead}")).json()

    assert (letter["job_name"], letter["task"], letter["dag_run_id"]) == ("x", "first", run_id)
    assert {one["execution_id"]: one["task"] for one in listed} == {run_id: None, dead: "first"}
    assert (shown["task"], shown["item"], shown["dag_run_id"]) == ("first", None, run_id)


async def test_items_of_a_fan_out_are_named_with_their_places(office: Office) -> None:
    fan: dict[str, Any] = {"fan_out": {"over": "${config.names}"}, "payload": {"of": "${item}"}}
    await begun(office, {"name": "each", "kind": "echo", **fan}, config={"names": ["a", "b"]})

    listed = (await office.http.get("/v1/executions")).json()["executions"]

    assert sorted((one["task"], one["item"]) for one in listed if one["task"]) == [("each", 0), ("each", 1)]
