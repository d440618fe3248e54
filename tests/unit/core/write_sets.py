"""Write sets for the stories in this folder and in `tests/unit/store`."""

from __future__ import annotations

from uuid import UUID

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import ExecutionId, Failure, WorkerId
from gnomon.core.executions.lease import Claim, ClaimRequest
from gnomon.core.executions.lifecycle import Cancelled, Failed, Outcome, after
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.decisions import after as run_after
from gnomon.core.runs.events import Approve, Changes, Ended, RerunFailed, Started, State
from gnomon.core.runs.state import RunState, TaskState, TaskStatus, born
from gnomon.core.runs.write_set import Step, VersionedRun, WorkerClaim
from gnomon.core.workflows.workflow import Plan
from tests.unit.core.builders import HOUR, JOB_ID, NOON, leased

BOOM = Failed(Failure("ValueError", "boom"))
CLAIM = WorkerClaim(
    ClaimRequest(UUID(int=9), WorkerId("ada"), frozenset({"dummy"}), limit=5), NOON, NOON + HOUR
)
Rows = dict[int, TaskState]
RunEvent = Ended | Started | RerunFailed | Approve


def decided(outcome: Outcome, number: int = 1) -> Decision:
    held = leased(cancel_requested=isinstance(outcome, Cancelled))
    change = after(held, outcome, now=NOON, jitter=0.5)
    return Decision(Claim(ExecutionId(UUID(int=number)), 1), change, in_run=True)


def begun(plan: Plan) -> tuple[RunState, Rows]:
    run, tasks = born(plan)
    return moved(plan, run, dict(enumerate(tasks)), Started())


def changes_of(plan: Plan, run: RunState, rows: Rows, event: RunEvent) -> Changes:
    changes = run_after(plan, State(run, rows), [event], now=NOON)
    assert isinstance(changes, Changes)
    return changes


def moved(plan: Plan, run: RunState, rows: Rows, event: RunEvent) -> tuple[RunState, Rows]:
    changes = changes_of(plan, run, rows, event)
    return changes.run, rows | dict(changes.tasks)


def step_of(plan: Plan, run: RunState, rows: Rows, event: RunEvent) -> Step:
    read = VersionedRun(UUID(int=7), DEFAULT_TENANT, JobId(JOB_ID), 1, run, None, None, version=3)
    return Step(read, plan, changes_of(plan, run, rows, event))


def ended(place: int, status: TaskStatus = TaskStatus.COMPLETED) -> Ended:
    return Ended(place, 1, status)
