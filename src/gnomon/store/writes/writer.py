"""The one writer of decisions: it picks the statement, runs it, and reads its answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.lease import Claim
from gnomon.core.runs.write_set import WorkerClaim, WriteSet
from gnomon.core.workflows.workflow import Execute
from gnomon.store.databases.database import Database, Row, Rows, Session, again_after_deadlock
from gnomon.store.queue.claimed import ids_of
from gnomon.store.queue.claimer import Claimer
from gnomon.store.queue.claims_with_ends import ClaimWithEnds, nothing_scanned, with_ends
from gnomon.store.writes import batches, changes
from gnomon.store.writes.assemblies import Assembly, assembly_of
from gnomon.store.writes.chain_step import chain_step
from gnomon.store.writes.run_steps import write_steps
from gnomon.store.writes.written import REFUSED, WRITTEN, Written


class Writer:
    def __init__(self, database: Database, claimer: Claimer) -> None:
        self._database = database
        self._claimer = claimer

    async def write(self, write_set: WriteSet, within: Session | None = None) -> Written:
        """`within` a transaction that holds the locks of the runs; else atomic by itself."""
        claim = None if write_set.claim is None else with_ends(self._claimer, write_set.claim)
        lane_id = None if claim is None else _lane_of_next(write_set, claim)
        assembly = assembly_of(write_set, holds_locks=within is not None, lane_id=lane_id)
        match assembly:
            case Assembly.PLAIN_ENDINGS | Assembly.CHANGES:
                return await _change(within or self._database, assembly, write_set)
            case Assembly.CHAIN_STEP:
                assert lane_id is not None
                return await self._hand_over(write_set, lane_id)
            case Assembly.TASK_ENDS:
                return await self._end_tasks(write_set, claim)
            case Assembly.RUN_STEPS:
                assert within is not None
                return await write_steps(within, write_set)
            case Assembly.CLAIM:
                assert within is not None
                assert claim is not None
                return Written(claimed=await claim.within(within))
            case _:
                assert_never(assembly)

    def sees_all_of(self, claim: WorkerClaim, tenants: Iterable[TenantId]) -> bool:
        """Whether this claim looks at all that an end of these may have made room for."""
        return with_ends(self._claimer, claim).sees_all_of(tenants)

    async def _hand_over(self, write_set: WriteSet, lane_id: int) -> Written:
        step = chain_step(write_set, lane_id)
        if not await self._database.fetch("task_handover", **step.values):
            return REFUSED
        return Written(claimed=[step.claimed], may_be_more=False, begun=batches.begun([step.released]))

    async def _end_tasks(self, write_set: WriteSet, claim: ClaimWithEnds | None) -> Written:
        steps, released = write_set.steps, batches.released(write_set)
        where, values = nothing_scanned(self._database, now=write_set.now) if claim is None else claim.scanned
        given = (
            changes.ending_rows(write_set.decisions),
            batches.moved_tasks(steps),
            batches.moved_runs(steps, now=write_set.now),
            batches.released_rows(released),
            *where,
        )
        rows = await self._fetch_ends(given, values | {"now": write_set.now}, write_set)
        if not rows[0]["is_accepted"]:
            return REFUSED
        claimed = [row for row in rows if row["execution_id"] is not None]
        waited = [row for row in claimed if not row["is_new"]]
        if claim is not None:
            claim.took(waited, beside=len(claimed) - len(waited))
        begun = batches.begun(released)
        left = begun.keys() - ids_of(claimed)
        has_seen_all = claim is not None and claim.sees_all_of(one.run.tenant_id for one in steps)
        return Written(claimed=claimed, may_be_more=bool(left) or not has_seen_all, begun=begun)

    async def _fetch_ends(
        self, given: Sequence[Rows], values: dict[str, object], write_set: WriteSet
    ) -> Sequence[Row]:
        ended = write_set.ended_runs
        if not ended:
            return await self._database.fetch("tasks_end", *given, **values)
        return await self._fetch_ends_of_runs(given, values, batches.ended_runs(ended))

    @again_after_deadlock
    async def _fetch_ends_of_runs(
        self, given: Sequence[Rows], values: dict[str, object], ended: Rows
    ) -> Sequence[Row]:
        async with self._database.transaction() as session:
            rows = await session.fetch("tasks_end", *given, **values)
            if rows[0]["is_accepted"]:
                await session.fetch("runs_end", ended, now=values["now"])
            return rows


def _lane_of_next(write_set: WriteSet, claim: ClaimWithEnds) -> int | None:
    """Of what follows, if the worker may have it without a look at the queue."""
    if not write_set.is_step_of_chain:
        return None
    [step] = write_set.steps
    [release] = step.changes.releases
    work = step.plan.task(release.task).work
    assert isinstance(work, Execute)
    return claim.lane_without_a_look(step.run.tenant_id, work.definition)


async def _change(session: Session, assembly: Assembly, write_set: WriteSet) -> Written:
    is_plain = assembly is Assembly.PLAIN_ENDINGS
    rows_of = changes.ending_rows if is_plain else changes.change_rows
    rows = await session.fetch(
        assembly, rows_of(write_set.decisions), now=write_set.now, in_run=write_set.is_about_tasks
    )
    if not rows:
        return WRITTEN
    return Written(
        refused={Claim(row["execution_id"], row["claim"]) for row in rows if row["claim"] is not None},
        watched={row["job_id"] for row in rows if row["job_id"] is not None},
    )
