"""What a worker that has no store of its own does: claim, hold on, write down, over somebody who has one.

The outcome of an attempt is decided here, by core/executions/lifecycle.py, from the lease as the store has
it. What a worker says is checked against the fence, and against the name of the worker that was given the
lease.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import NamedTuple

from gnomon.client.context import ClientContext
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import AttemptOutcome, ExecutionId, ExecutionStatus, WorkerId
from gnomon.core.executions.lease import LEASE, Claim, ClaimRequest, Leased
from gnomon.core.executions.lifecycle import (
    Cancelled,
    Failed,
    LeaseExpired,
    Outcome,
    Released,
    Snoozed,
    Succeeded,
    TimedOut,
    after,
)
from gnomon.core.executions.records import Checkpoint, LogLine
from gnomon.core.values.document import Document
from gnomon.engine.outlook import Outlook
from gnomon.errors import ExecutionNotFound, SchemaMismatch
from gnomon.store.databases.hints import Topic
from gnomon.store.protocols.changes import Applied

# How an attempt that ended in this way is kept; a replay is known by it.
_ATTEMPTS: dict[type[Outcome], AttemptOutcome] = {
    Succeeded: AttemptOutcome.COMPLETED,
    Failed: AttemptOutcome.FAILED,
    TimedOut: AttemptOutcome.TIMEOUT,
    Cancelled: AttemptOutcome.CANCELLED,
    Snoozed: AttemptOutcome.SNOOZED,
    Released: AttemptOutcome.RELEASED,
    LeaseExpired: AttemptOutcome.EXPIRED,
}
# Between two looks of a claim that waits, where no hint comes.
LOOK_AGAIN = timedelta(seconds=1)


class Handed(NamedTuple):
    """An execution in a worker's hands, and the state from which it goes on."""

    leased: Leased
    state: Document | None


class HeldLease(NamedTuple):
    """A lease that still holds."""

    claim: Claim
    cancel_requested: bool


@dataclass(frozen=True, slots=True)
class LeaseEnd:
    """`has_drawn`: the worker has put chance into the wait it asks for, so there is none to add."""

    claim: Claim
    outcome: Outcome
    has_drawn: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """What became of an ending. `status` is where the execution went, if the ending was applied now."""

    claim: Claim
    applied: Applied
    status: ExecutionStatus | None = None


class WorkerLeases:
    def __init__(self, context: ClientContext, *, lease: timedelta = LEASE) -> None:
        self._context = context
        self._executions = context.store.executions
        self._random = Random()  # noqa: S311 - jitter, no secret.
        self.lease = lease

    async def claim(
        self,
        request: ClaimRequest,
        *,
        wait: timedelta = timedelta(0),
        stop: asyncio.Event | None = None,
        check: Callable[[], Awaitable[None]] | None = None,
    ) -> Sequence[Handed]:
        """Executions that fit; if there are none, those that come within `wait`.

        The same request asked again gets what it got the first time and still holds. `stop` ends the wait.
        `check` is called before each look, and raises what shall end the wait.
        Raises SchemaMismatch while the schema does not fit this release.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + wait.total_seconds()
        outlook = Outlook(lambda after: self._executions.next_due(request, after=after), fresh=LOOK_AGAIN / 2)
        with (
            self._context.bells.listening(Topic.WORK, Topic.LATER) as bell,
            self._context.rooms.waking(bell, request.worker),
        ):
            while True:
                leased: Sequence[Leased] = ()
                if check is not None:
                    await check()
                began = self._context.clock.now()
                if bell.was_early or await outlook.is_due(began):
                    leased = await self._claim_now(request)
                left = timedelta(seconds=until - loop.time())
                is_over = left <= timedelta(0) or (stop is not None and stop.is_set())
                # A repeat has used its id up, so it would find nothing later either.
                if leased or is_over or request.is_repeat:
                    return await self._with_states(leased)
                if bell.was_early:
                    outlook.forget()  # What the bell told of may be due before all that is known.
                await bell.wait(
                    await outlook.pause(
                        self._context.clock.now(), at_most=min(left, LOOK_AGAIN), taken_at=began
                    )
                )

    async def _claim_now(self, request: ClaimRequest) -> Sequence[Leased]:
        if (reason := self._context.misfit()) is not None:
            raise SchemaMismatch({"schema": reason})
        await self._context.clock.sure()
        now = self._context.clock.now()
        return await self._executions.claim(request, now=now, lease_until=now + self.lease)

    async def renew(self, worker: WorkerId, claims: Sequence[Claim]) -> Sequence[HeldLease]:
        """Those that still hold; the others are lost, and their work must stop."""
        own = await self._own_claims(worker, claims)
        held = await self._executions.renew(own, lease_until=self._context.clock.now() + self.lease)
        return [HeldLease(one.claim, one.cancel_requested) for one in held]

    async def complete(self, worker: WorkerId, endings: Sequence[LeaseEnd]) -> Sequence[Written]:
        """Each once, whatever is repeated. In order."""
        now = self._context.clock.now()
        found = await self._executions.held([ending.claim for ending in endings])
        leased = {one.claim: one for one in found if one.worker == worker}
        decisions = {
            ending.claim: Decision(
                ending.claim,
                after(leased[ending.claim], ending.outcome, now=now, jitter=self._jitter(ending)),
                leased[ending.claim].revision.is_task,
            )
            for ending in endings
            if ending.claim in leased
        }
        answers = await self._executions.apply(list(decisions.values()), now=now)
        applied = dict(zip(decisions, answers, strict=True))
        before = await self._executions.settled([one.claim for one in endings if one.claim not in leased])
        written = [_written(ending, decisions, applied, before) for ending in endings]
        self._tell(written)
        put_back = [one.change.due for one in decisions.values() if applied[one.claim] is Applied.APPLIED]
        self._context.announce_due([due for due in put_back if due is not None], now=now)
        self._context.at_home(self._context.rooms.tell, worker)
        if any(one.in_run for one in decisions.values()):
            self._context.announce(Topic.WORK)  # What follows a task of a workflow.
        return written

    def _jitter(self, ending: LeaseEnd) -> float:
        """None: then the wait is the worker's, which is never below the shortest that the policy allows."""
        return 0.0 if ending.has_drawn else self._random.random()

    async def current_claim(self, execution_id: ExecutionId) -> int | None:
        """How often it was handed out, if it exists: what a late worker is told."""
        try:
            return (
                await self._executions.get(
                    self._context.tenant_id, execution_id, now=self._context.clock.now()
                )
            ).claim
        except ExecutionNotFound:
            return None

    async def checkpoint(self, worker: WorkerId, checkpoints: Sequence[Checkpoint]) -> Sequence[Claim]:
        """Those that were kept; the others are lost."""
        own = set(await self._own_claims(worker, [one.claim for one in checkpoints]))
        kept = [one for one in checkpoints if one.claim in own]
        return await self._context.store.checkpoints.save(kept) if kept else []

    async def log(self, worker: WorkerId, lines: Sequence[LogLine]) -> Sequence[Claim]:
        """Those whose lines were kept; a line that is sent twice is one line."""
        own = set(await self._own_claims(worker, [line.claim for line in lines]))
        kept = [line for line in lines if line.claim in own]
        return await self._context.store.logs.append(kept) if kept else []

    async def _own_claims(self, worker: WorkerId, claims: Sequence[Claim]) -> Sequence[Claim]:
        return [one.claim for one in await self._executions.held(claims) if one.worker == worker]

    async def _with_states(self, leased: Sequence[Leased]) -> Sequence[Handed]:
        """A first attempt has no state, and costs no query."""
        again: list[ExecutionId] = [one.claim.execution_id for one in leased if one.claim.number > 1]
        kept = await self._context.store.checkpoints.load(again) if again else {}
        states = {execution_id: checkpoint.state for execution_id, checkpoint in kept.items()}
        return [Handed(one, states.get(one.claim.execution_id)) for one in leased]

    def _tell(self, written: Sequence[Written]) -> None:
        for one in written:
            if one.status is not None and one.status.is_final:
                self._context.at_home(self._context.ends.tell, one.claim.execution_id)


def _written(
    ending: LeaseEnd,
    decisions: Mapping[Claim, Decision],
    applied: Mapping[Claim, Applied],
    before: Mapping[Claim, AttemptOutcome],
) -> Written:
    claim = ending.claim
    if claim in applied:
        status = decisions[claim].change.status if applied[claim] is Applied.APPLIED else None
        return Written(claim, applied[claim], status)
    is_replay = before.get(claim) is _ATTEMPTS[type(ending.outcome)]
    return Written(claim, Applied.REPLAYED if is_replay else Applied.LOST)
