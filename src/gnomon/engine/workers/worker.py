"""Claim what fits, run it, hand over what came of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial

from gnomon.core.executions.lease import LEASE, Claim, ClaimRequest, Leased
from gnomon.core.executions.lifecycle import Outcome, Released
from gnomon.core.operations.workers import Registration
from gnomon.core.values.document import Document
from gnomon.core.values.ids import IdSource
from gnomon.engine.clock import Clock
from gnomon.engine.failpoints import At, failpoint
from gnomon.engine.outlook import Outlook
from gnomon.engine.service import NOW, POLL
from gnomon.engine.telemetry import Telemetry, What
from gnomon.engine.workers.attempts import Attempt, Stop, states_of
from gnomon.engine.workers.needs import Forecast, Leases
from gnomon.engine.workers.notebook import Notebook
from gnomon.engine.workers.quarantine import Quarantine
from gnomon.engine.workers.slots import Slots
from gnomon.handlers.base import Context
from gnomon.handlers.registry import Registry
from gnomon.store.protocols.executions import CheckpointStore

logger = logging.getLogger(__name__)


class Worker:
    """Runs executions. It is the attendant of its attempts, too: see handlers/base.py.

    Without a forecast, it claims at each poll: a server knows by itself until when a claim waits.
    """

    def __init__(
        self,
        registration: Registration,
        slots: Slots,
        *,
        executions: Leases,
        checkpoints: CheckpointStore,
        clock: Clock,
        ids: IdSource,
        handlers: Registry,
        notebook: Notebook,
        telemetry: Telemetry,
        forecast: Forecast | None = None,
        lease: timedelta = LEASE,
        poll: timedelta = POLL,
    ) -> None:
        self.wakeup = slots.to_fill
        self.registration = registration
        self.started = 0  # Attempts since this worker began.
        self._executions = executions
        self._checkpoints = checkpoints
        self._clock = clock
        self._ids = ids
        self._handlers = handlers
        self._slots, self._attempts = slots, slots.attempts
        self._notebook, self._telemetry = notebook, telemetry
        self._lease, self._poll = lease, poll
        next_due = partial(forecast.next_due, registration) if forecast else None
        self._outlook = Outlook(next_due, fresh=poll / 2) if next_due else None
        hold_back = partial(forecast.hold_back, registration.id, registration) if forecast else None
        self._quarantine = Quarantine(self.claims, hold_back)
        self._is_leaving = False  # Its process ends.
        self.is_halted: Callable[[], bool] = lambda: False  # Claims nothing while it is.
        self._is_drained = False  # By a caller, who may undo it.
        slots.filled_by(self)

    # Claiming ------------------------------------------------------------------------------------------

    async def step(self) -> timedelta:
        began = self._clock.now()
        if self._slots.request is None:
            await self._quarantine.look(began)
            if not self._may_ask:
                return self._poll  # Whoever ends wakes us up.
        if not await self._may_find_something():
            return await self._pause(began)
        if not await self.may_ask():
            self._slots.wait_for_completer()
            return self._poll
        free = self._slots.free
        leased = await self._claim(is_alone=self._quarantine.is_waiting)
        if not leased and await self._may_run_alone():
            leased = await self._claim(is_alone=True)
        return NOW if len(leased) >= free and not self.is_draining else await self._pause(began)

    def expect(self) -> None:
        """Something was put off, perhaps until a time that comes before all that this worker knows of."""
        if self._outlook is not None:
            self._outlook.forget()
            self.wakeup.set()

    async def _may_find_something(self) -> bool:
        """A poll looks before it claims, and learns when something will be due. A hint is trusted."""
        if self._outlook is None or self._slots.request is not None or self.wakeup.was_early:
            return True
        return await self._outlook.is_due(self._clock.now())

    async def _may_run_alone(self) -> bool:
        """Nothing was found, although something is due: perhaps a suspect, which wants an empty worker."""
        if self._outlook is None or self.claims() or not await self._outlook.leaves(self._clock.now()):
            return False
        return await self.may_ask() and self._slots.request is None and not self.claims()

    async def _pause(self, taken_at: datetime) -> timedelta:
        if self._outlook is None:
            return self._poll
        return await self._outlook.pause(self._clock.now(), at_most=self._poll, taken_at=taken_at)

    @property
    def _may_ask(self) -> bool:
        is_held_up = self.is_draining or self._slots.is_behind or self.is_halted()
        return self._slots.free > 0 and not is_held_up and self._quarantine.is_open

    def _request(self, *, is_alone: bool) -> ClaimRequest:
        own, number = self.registration, self._ids.next(self._clock.now())
        limit = 1 if is_alone else self._slots.free
        return ClaimRequest(number, own.id, own.kinds, own.queues, own.capabilities, limit, is_alone=is_alone)

    async def _claim(self, *, is_alone: bool) -> Sequence[Leased]:
        """A request whose answer got lost is asked again until it is answered: it may have claimed."""
        now = self._clock.now()
        request = self._slots.repeated or self._request(is_alone=is_alone)
        self._slots.ask(request)
        failpoint(At.CLAIM_BEFORE)
        leased = await self._executions.claim(request, now=now, lease_until=now + self._lease)
        failpoint(At.CLAIM_AFTER)
        if request.is_repeat:
            logger.info("claim answered again", extra={"request": str(request.id), "executions": len(leased)})
        await self.accept(leased)
        return leased

    # For the slots: the completer, too, asks for what follows a task when it writes the end of it --------

    async def may_ask(self) -> bool:
        """Whether a request may be sent now. Leases are given by the clock, so that must be sure."""
        await self._clock.sure()
        slots = self._slots
        return not slots.is_asked_by_completer and (slots.request is not None or self._may_ask)

    def new_request(self) -> ClaimRequest:
        return self._request(is_alone=False)

    async def accept(self, leased: Sequence[Leased]) -> None:
        states = await states_of(leased, self._checkpoints)
        self._slots.answered(len(leased))
        if self.is_draining:
            self._give_back(leased)
        else:
            # The answer may have taken so long that another worker runs these, or a heartbeat comes too late.
            soon = self._clock.now() + self._lease / 3
            self._give_back(one for one in leased if one.lease_until <= soon)
            self._start([one for one in leased if one.lease_until > soon], states)

    def written(self) -> None:
        if self._quarantine.is_active:
            self.wakeup.set()

    def _start(self, leased: Sequence[Leased], states: Mapping[Claim, Document]) -> None:
        self._quarantine.took(leased)
        loop, now = asyncio.get_running_loop(), self._clock.now()
        settle, leave, before, after = self._settle, self._leave, At.START_BEFORE, At.START_AFTER
        for one in leased:
            failpoint(before)
            attempt = Attempt(one, settle, leave)
            handler = self._handlers.handler(one.revision.definition.kind)
            attempt.task = loop.create_task(attempt.run(handler, Context(one, self, states.get(one.claim))))
            self._attempts[one.claim] = attempt
            failpoint(after)
        self.started += len(leased)
        # After the attempts have begun: they need not wait until it is told, which may be a line of log each.
        loop.call_soon(partial(self._telemetry.tell_started, leased, at=now))

    def _give_back(self, leased: Iterable[Leased]) -> None:
        for one in leased:
            self._slots.end(one, Released(has_started=False))

    # Ending --------------------------------------------------------------------------------------------

    def _settle(self, attempt: Attempt, outcome: Outcome | None) -> None:
        failpoint(At.RUN_AFTER)
        if outcome is not None:
            self._quarantine.ended(attempt.leased, outcome)
            self._slots.end(attempt.leased, outcome)

    def _leave(self, attempt: Attempt) -> None:
        self._attempts.pop(attempt.leased.claim, None)
        # Where nothing waits, the next may be what follows this task, once its end is written.
        if not (self._slots.found_all and attempt.leased.revision.is_task):
            self.wakeup.set()

    def claims(self) -> Sequence[Claim]:
        """What to renew: what runs, and what has ended but is not written yet. For any thread to ask."""
        running = [one.leased.claim for one in list(self._attempts.values()) if not one.is_settled]
        return [*running, *self._slots.unwritten()]

    def lost(self, claims: Iterable[Claim]) -> None:
        """These belong to somebody else by now. What has ended meanwhile is not ours to stop."""
        for claim in claims:
            attempt = self._attempts.get(claim)
            if attempt is not None and not attempt.is_settled:
                told = {"execution": str(claim.execution_id), "claim": claim.number}
                logger.warning("lease lost; attempt stopped", extra=told)
                self._telemetry.tell(What.LOST, attempt.leased, at=self._clock.now())
                attempt.ask_to_stop(Stop.LOST)

    def cancel(self, claims: Iterable[Claim]) -> None:
        """Somebody asked for the end of these."""
        for claim in claims:
            attempt = self._attempts.get(claim)
            if attempt is not None:
                attempt.ask_to_stop(Stop.CANCELLED)

    # Leaving -------------------------------------------------------------------------------------------

    @property
    def is_draining(self) -> bool:
        """Takes nothing new."""
        return self._is_leaving or self._is_drained

    def stop_claiming(self) -> None:
        """For good: the process is about to end."""
        self._is_leaving = True
        self.wakeup.set()

    def drain(self) -> None:
        """Take nothing new until `undrain`. What runs goes on, and so does the process."""
        if not self._is_drained:
            logger.info("drained: takes nothing new until it is undrained", extra={"running": self.running})
        self._is_drained = True

    def undrain(self) -> None:
        if self._is_drained:
            logger.info("undrained: takes work again")
            self._is_drained = False
            self.wakeup.set()

    def stop_running(self) -> None:
        """Stop what runs; it goes back without charge."""
        for attempt in list(self._attempts.values()):
            attempt.ask_to_stop(Stop.DRAINED)

    @property
    def running(self) -> int:
        return len(self._attempts)

    @property
    def is_empty(self) -> bool:
        """Nothing runs, nothing waits to be written, no claim may be on its way."""
        unsettled = any(not one.is_settled for one in self._attempts.values())
        return not unsettled and self._slots.request is None and self._slots.is_all_written

    # For handlers --------------------------------------------------------------------------------------

    def checkpoint(self, leased: Leased, state: Document, progress: float | None) -> Future[None]:
        return self._notebook.checkpoint(leased, state, progress)

    def is_stopping(self, leased: Leased) -> bool:
        attempt = self._attempts.get(leased.claim)
        return attempt is None or attempt.stop is not None
