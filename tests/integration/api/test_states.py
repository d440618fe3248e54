"""What a job does now, in the word of its `state`: alike wherever a job is answered."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from gnomon.core.executions.execution import Failure
from gnomon.core.executions.lifecycle import Failed, Succeeded
from gnomon.core.executions.records import Checkpoint
from gnomon.core.values.document import Document
from tests.integration.api.conftest import Office
from tests.integration.api.dags import made, triggered

BROKEN = Failed(Failure("oops", "It did not work."), permanent=True)
MINUTE = timedelta(minutes=1)


async def state_of(office: Office, job: dict[str, Any]) -> str:
    """The same in the list as of the job itself."""
    listed = {one["job_id"]: one for one in (await office.http.get("/v1/jobs")).json()["jobs"]}
    one = (await office.http.get(f"/v1/jobs/{job['job_id']}")).json()
    assert listed[job["job_id"]]["state"] == one["state"]
    state: str = one["state"]
    return state


async def test_the_state_of_a_job_follows_its_runs(office: Office) -> None:
    job = await office.job()
    assert (job["state"], await state_of(office, job)) == ("scheduled", "scheduled")

    await office.run(job["job_id"], delay_seconds=60)
    assert await state_of(office, job) == "scheduled"
    office.clock.advance(MINUTE)
    assert await state_of(office, job) == "queued"
    [leased] = await office.claim()
    assert await state_of(office, job) == "running"
    await office.end(leased, Succeeded())
    assert await state_of(office, job) == "completed"

    await office.run(job["job_id"])
    await office.end((await office.claim())[0], BROKEN)
    assert await state_of(office, job) == "failed"


async def test_a_failed_attempt_waits_for_its_next_one(office: Office) -> None:
    job = await office.job(cron="0 2 * * *")
    await office.run(job["job_id"])
    await office.end((await office.claim())[0], Failed(Failure("oops", "It did not work.")))

    assert await state_of(office, job) == "scheduled"
    office.clock.advance(5 * MINUTE)
    assert await state_of(office, job) == "queued"


async def test_a_call_that_changes_a_job_answers_with_its_state(office: Office) -> None:
    job = await office.job(interval_seconds=3600)
    url = f"/v1/jobs/{job['job_id']}"

    paused = (await office.http.post(f"{url}/pause")).json()
    resumed = (await office.http.post(f"{url}/resume")).json()
    await office.run(job["job_id"])
    changed = (await office.http.put(url, json={"priority": 9})).json()
    cancelled = (await office.http.post(f"{url}/cancel")).json()

    assert [one["state"] for one in (paused, resumed, changed, cancelled)] == [
        "paused",
        "scheduled",
        "queued",
        "cancelled",
    ]


async def test_a_repeated_call_that_made_a_job_tells_what_it_does_by_now(office: Office) -> None:
    form, once = {"name": "report", "kind": "report"}, {"Idempotency-Key": "once"}
    first = (await office.http.post("/v1/jobs", json=form, headers=once)).json()
    await office.run(first["job_id"])
    office.clock.advance(MINUTE)

    again = (await office.http.post("/v1/jobs", json=form, headers=once)).json()

    assert (first["state"], again["state"], again["job_id"]) == ("scheduled", "queued", first["job_id"])


async def test_the_state_of_a_workflow_follows_its_runs_and_not_its_tasks(office: Office) -> None:
    dag = await made(office)
    url = f"/v1/dags/{dag['dag_id']}"
    run = await triggered(office, dag)
    [leased] = await office.claim(kinds=["extract_data"])

    during = (await office.http.get(url)).json()
    await office.end(leased, BROKEN)
    after = (await office.http.get(url)).json()
    [listed] = (await office.http.get("/v1/dags")).json()["dags"]
    [as_job] = (await office.http.get("/v1/jobs?kind=gnomon.dag")).json()["jobs"]

    assert dag["schedule"]["type"] == "cron"
    assert (dag["state"], during["state"], after["state"]) == ("scheduled", "running", "scheduled")
    assert (listed["state"], as_job["state"]) == ("scheduled", "scheduled")
    assert (await office.http.get(f"/v1/dag-runs/{run['dag_run_id']}")).json()["status"] == "FAILED"


async def test_the_progress_of_what_runs_can_be_read(office: Office) -> None:
    job = await office.job()
    run = await office.run(job["job_id"])
    url = f"/v1/executions/{run['execution_id']}"
    assert (await office.http.get(url)).json()["progress"] is None
    [leased] = await office.claim()
    state = Document.of({"page": 3}, field="state")
    await office.store.checkpoints.save([Checkpoint(leased.claim, state, 0.25, office.clock.now())])

    shown = (await office.http.get(url)).json()["progress"]
    [listed] = (await office.http.get("/v1/executions")).json()["executions"]
    [of_job] = (await office.http.get(f"/v1/jobs/{job['job_id']}/executions")).json()["executions"]
    await office.end(leased, Failed(Failure("oops", "It did not work.")))
    between = (await office.http.get(url)).json()["progress"]
    office.clock.advance(5 * MINUTE)
    await office.end((await office.claim())[0], Succeeded())

    assert (shown, listed["progress"], of_job["progress"], between) == (0.25, 0.25, 0.25, 0.25)
    assert (await office.http.get(url)).json()["progress"] is None
