"""Ends of tasks, in the transaction that accepts them: what follows, and who claims it at once."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from gnomon.core.executions.execution import ExecutionId, ExecutionStatus
from gnomon.core.executions.lease import Claim
from gnomon.core.runs.events import Ended
from gnomon.core.runs.state import ENDS, RunStatus
from gnomon.store.databases.database import Row, Rows
from gnomon.store.executions.changes import are_plain_endings, change_rows, ending_rows
from gnomon.store.protocols.changes import Decision
from gnomon.store.queue.claims_with_ends import ClaimWithEnds
from gnomon.store.runs.progress import Happened, Progress


class WentOn(NamedTuple):
    """What ends of tasks brought about: ends that were refused, and what was claimed in their transaction.

    `has_more`: there may be more to claim. Not all that follows them is among it, or nobody looked.
    """

    refused: Sequence[Row] = ()
    claimed: Sequence[Row] = ()
    has_more: bool = True


class Member(NamedTuple):
    """A claim of a task, and where that task is."""

    claim: Claim
    run_id: UUID
    task: int
    round: int
    item: int | None


async def end_tasks(progress: Progress, decisions: Sequence[Decision], claim: ClaimWithEnds | None) -> WentOn:
    session = progress.session
    members = await _lock_runs_of(progress, sorted(one.claim for one in decisions))
    now = progress.now  # Not before what happened to the runs until they were locked.
    if are_plain_endings(decisions):
        answer = await session.fetch("apply_endings", ending_rows(decisions), now=now, in_run=True)
    else:
        answer = await session.fetch("apply", change_rows(decisions), now=now, in_run=True)
    refused = {(row["execution_id"], row["claim"]) for row in answer}
    accepted = [one for one in members if one.claim not in refused]
    await progress.take(await _ends(progress, accepted, decisions))
    claimed = await claim.within(session) if claim is not None and progress.released else ()
    left = progress.released.keys() - {row["execution_id"] for row in claimed}
    has_seen_all = (
        bool(claimed)
        and claim is not None
        and claim.sees_all_of(run.tenant_id for run in progress.runs.values())
    )
    return WentOn(answer, claimed, bool(left or progress.has_let_go) or not has_seen_all)


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


async def _ends(progress: Progress, accepted: Sequence[Member], decisions: Sequence[Decision]) -> Happened:
    """Which of the changes were ends. One that asked for another try may have met a cancel."""
    changes = {claim.execution_id: change for claim, change, _ in decisions}
    ends: dict[UUID, ExecutionStatus] = {
        one.claim.execution_id: changes[one.claim.execution_id].status for one in accepted
    }
    retried = [one for one in ends if changes[ExecutionId(one)].due is not None]
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
