"""Write down what became of attempts, in batches that grow with the load."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from random import Random

from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import AttemptOutcome, ExecutionStatus, Failure
from gnomon.core.executions.lease import LEASE, Leased
from gnomon.core.executions.lifecycle import Change, Failed, Outcome, after
from gnomon.engine.clock import Clock
from gnomon.engine.failpoints import At, failpoint
from gnomon.engine.service import NOW
from gnomon.engine.telemetry import Telemetry, What
from gnomon.engine.workers.needs import Leases
from gnomon.engine.workers.notebook import Notebook
from gnomon.engine.workers.slots import Slots
from gnomon.errors import StoreUnavailable
from gnomon.store.protocols.changes import Applied

logger = logging.getLogger(__name__)

BATCH = 500
IDLE = timedelta(seconds=10)


# What is written in place of an outcome that nobody can make sense of.
UNDECIDABLE = Failed(Failure("undecidable", "Nothing could be decided about the outcome."), permanent=True)
UNWRITABLE = Failed(Failure("unwritable", "The store could not keep the outcome."), permanent=True)


class Completer:
    """There is no delay: what ends while a batch is being written is the next batch.

    What follows tasks of workflows is claimed with it, as far as there are free slots. `released` is called
    when there may be more; `put_off` when something shall be tried again, now or later.
    """

    def __init__(
        self,
        slots: Slots,
        *,
        executions: Leases,
        clock: Clock,
        random: Random,
        notebook: Notebook,
        telemetry: Telemetry,
        lease: timedelta = LEASE,
        released: Callable[[], None] = lambda: None,
        put_off: Callable[[], None] = lambda: None,
    ) -> None:
        self.wakeup = slots.to_write
        self._slots = slots
        self._executions = executions
        self._clock = clock
        self._random = random
        self._notebook = notebook
        self._telemetry = telemetry
        self._lease = lease
        self._released = released
        self._put_off = put_off
        # What is being written. Kept until it is, and asked again as it was: the store knows a replay.
        self._decisions: list[Decision] = []

    async def step(self) -> timedelta:
        if not self._decisions:
            self._decide()
        if not self._decisions:
            return IDLE
        # The store takes no line and no checkpoint of an execution that has ended.
        await self._notebook.flush()
        failpoint(At.APPLY_BEFORE)
        answers, more = await self._write_all(self._decisions)
        failpoint(At.APPLY_AFTER)
        self._tell(answers)
        if more:
            self._released()  # What follows a task of a workflow is there now, and not before.
        if any(change.due for _, change, _ in self._decisions):
            self._put_off()
        self._decisions = []
        self._slots.written()
        return NOW if self._slots.has_ended else IDLE

    def _decide(self) -> None:
        now, random = self._clock.now(), self._random.random
        ended = self._slots.take_ended(limit=BATCH)
        try:
            changes = [after(leased, outcome, now=now, jitter=random()) for leased, outcome in ended]
        except Exception:  # One of them makes no sense.
            changes = [_change_after(leased, outcome, now=now, jitter=random()) for leased, outcome in ended]
        self._decisions = [
            Decision(leased.claim, change, leased.revision.is_task)
            for (leased, _), change in zip(ended, changes, strict=True)
        ]
        for listener in self._telemetry.on_decisions:
            listener(self._decisions, now)

    async def _write_all(self, decisions: Sequence[Decision]) -> tuple[Sequence[Applied], bool]:
        """And whether there is work for others now: what follows tasks and was not claimed here."""
        has_tasks = any(one.in_run for one in decisions)
        request = await self._slots.ask_with_ends() if has_tasks else None
        if request is None:
            return await self._write(decisions), has_tasks
        now = self._clock.now()
        try:
            done = await self._executions.apply_and_claim(
                decisions, request, now=now, lease_until=now + self._lease
            )
            await self._slots.fill(done.leased or ())
        except BaseException as error:
            self._slots.lose()
            if isinstance(error, StoreUnavailable) or not isinstance(error, Exception):
                raise
            return await self._write(decisions), True
        return done.applied, done.more

    async def _write(self, decisions: Sequence[Decision]) -> Sequence[Applied]:
        try:
            return await self._executions.apply(decisions, now=self._clock.now())
        except StoreUnavailable:
            raise
        except Exception:
            if len(decisions) == 1:
                return await self._write_what_is_possible(decisions[0])
            logger.exception("a batch cannot be written; each one is written by itself")
            return [(await self._write([one]))[0] for one in decisions]

    async def _write_what_is_possible(self, decision: Decision) -> Sequence[Applied]:
        """Something in it does not fit into the store. That it failed fits, so nobody waits for it."""
        logger.exception(
            "an outcome cannot be written", extra={"execution": str(decision.claim.execution_id)}
        )
        [leased] = [one for one in self._slots.in_writing if one.claim == decision.claim]
        change = after(leased, UNWRITABLE, now=self._clock.now(), jitter=0.0)
        return await self._executions.apply([decision._replace(change=change)], now=self._clock.now())

    def _tell(self, answers: Sequence[Applied]) -> None:
        now, ran = self._clock.now(), self._telemetry.ran
        for one in self._slots.in_writing:
            ran.add((now - one.started_at).total_seconds())
        if not self._telemetry.listeners and Applied.LOST not in answers:
            self._telemetry.count(_what(change) for _, change, _ in self._decisions)
            return
        for leased, decision, answer in zip(self._slots.in_writing, self._decisions, answers, strict=True):
            change = decision.change
            if answer is Applied.LOST:
                told = {"execution": str(leased.claim.execution_id), "claim": leased.claim.number}
                logger.warning("late result refused", extra=told)
                self._telemetry.tell(What.REFUSED, leased, at=now)
            else:
                self._telemetry.tell(_what(change), leased, at=now, failure=change.failure)


def _change_after(leased: Leased, outcome: Outcome, *, now: datetime, jitter: float) -> Change:
    """User code had its hands on the outcome. If it makes no sense, the others in the batch still do."""
    try:
        return after(leased, outcome, now=now, jitter=jitter)
    except Exception:
        logger.exception(
            "an outcome cannot be decided about", extra={"execution": str(leased.claim.execution_id)}
        )
        return after(leased, UNDECIDABLE, now=now, jitter=jitter)


def _what(change: Change) -> What:
    if change.status is ExecutionStatus.COMPLETED:
        return What.COMPLETED
    if change.status is ExecutionStatus.CANCELLED:
        return What.CANCELLED
    if change.due is None:
        return What.FAILED
    given_back = change.attempt in (AttemptOutcome.RELEASED, AttemptOutcome.SNOOZED)
    return What.RELEASED if given_back else What.RETRIED
