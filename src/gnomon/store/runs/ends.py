"""Ends of tasks under the locks of their runs: the fence accepts them, then the core says what follows."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.executions.lease import Claim
from gnomon.core.runs.events import Ended
from gnomon.core.runs.state import ENDS, RunStatus
from gnomon.core.runs.write_set import WorkerClaim, WriteSet
from gnomon.store.databases.database import Rows
from gnomon.store.queue.claimed import ids_of
from gnomon.store.runs.progress import Happened, Progress
from gnomon.store.writes.written import Written


class Member(NamedTuple):
    """A claim of a task, and where that task is."""

    claim: Claim
    run_id: UUID
    task: int
    round: int
    item: int | None


async def end_tasks(progress: Progress, decisions: Sequence[Decision], claim: WorkerClaim | None) -> Written:
    members = await _lock_runs_of(progress, sorted(one.claim for one in decisions))
    # Not before what happened to the runs until they were locked.
    write_set = WriteSet(progress.now, decisions)
    ended = await progress.writer.write(write_set, progress.session)
    accepted = [one for one in members if one.claim not in ended.refused]
    await progress.take(await _ends(progress, accepted, write_set))
    if claim is None or not progress.released:
        return ended._replace(may_be_more=True)
    written = await progress.writer.write(WriteSet(claim.now, claim=claim), progress.session)
    claimed = written.claimed
    left = progress.released.keys() - ids_of(claimed)
    tenants = [run.tenant_id for run in progress.runs.values()]
    has_seen_all = bool(claimed) and progress.writer.sees_all_of(claim, tenants)
    may_be_more = bool(left or progress.has_let_go) or not has_seen_all
    return ended._replace(claimed=claimed, may_be_more=may_be_more)


async def _lock_runs_of(progress: Progress, claims: Sequence[Claim]) -> list[Member]:
    """Which of these claims are of tasks, and of which. A look: the fence comes later, under the lock."""
    held = Rows("held", ("execution_id", "claim"), claims)
    rows = await progress.session.fetch("runs_lock_of", held)
    progress.hold(rows)
    return [
        Member(claims[place], row["id"], task, round_, item)
        for row in rows
        for place, task, round_, item in json.loads(row["members"] or "[]")
    ]


async def _ends(progress: Progress, accepted: Sequence[Member], write_set: WriteSet) -> Happened:
    """Which of the changes were ends. One that asked for another try may have met a cancel."""
    changes = {claim.execution_id: change for claim, change, _ in write_set.decisions}
    ends: dict[UUID, ExecutionStatus] = {
        one.claim.execution_id: changes[one.claim.execution_id].status for one in accepted
    }
    retried = ends.keys() & {one.claim.execution_id for one in write_set.retries}
    if retried:
        ends = {one: status for one, status in ends.items() if one not in retried}
        ends |= await outcomes_of(progress, retried)
        await _hold_retries(progress, {one.run_id for one in accepted if one.claim.execution_id not in ends})
    happened: Happened = {}
    for one in accepted:
        status = ends.get(one.claim.execution_id)
        if status is not None and one.run_id in progress.runs:
            result = changes[one.claim.execution_id].result
            ended = Ended(one.task, one.round, ENDS[status], result, one.item)
            happened.setdefault(one.run_id, []).append(ended)
    return happened


async def outcomes_of(progress: Progress, execution_ids: Collection[UUID]) -> dict[UUID, ExecutionStatus]:
    asked = Rows("wanted", ("id",), [(one,) for one in sorted(execution_ids)])
    rows = await progress.session.fetch("endings_of", asked)
    return {row["execution_id"]: ExecutionStatus(row["outcome"]) for row in rows}


async def _hold_retries(progress: Progress, run_ids: Collection[UUID]) -> None:
    """What goes back to wait while its run is paused waits with the others."""
    for run_id in run_ids:
        if run_id in progress.runs and progress.runs[run_id].state.status is RunStatus.PAUSED:
            await progress.session.fetch("run_hold", run_id=run_id)
