"""One attempt in the hands of this worker: what runs, and why it shall stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from datetime import timedelta
from enum import StrEnum
from typing import assert_never

from gnomon.core.executions.execution import Failure
from gnomon.core.executions.lease import Claim, Leased
from gnomon.core.executions.lifecycle import (
    Cancelled,
    Failed,
    Outcome,
    Released,
    Snoozed,
    Succeeded,
    TimedOut,
)
from gnomon.core.values.document import Document
from gnomon.core.values.limits import RESULT_BYTES_MAX
from gnomon.errors import GnomonError
from gnomon.handlers.base import Context, Handler, JobFailed, NotHere, Snooze
from gnomon.logs import raised
from gnomon.store.protocols.executions import CheckpointStore

# Kept with the execution, like what its handler writes.
_log = logging.getLogger("gnomon.job")

# How long a handler that was told to stop may take before the worker stops waiting for it.
STOP_GRACE = timedelta(seconds=5)
# How long an execution waits before it is offered again to workers that may have what it needs.
NOT_HERE = timedelta(seconds=10)


class Stop(StrEnum):
    CANCELLED = "cancelled"  # Somebody asked for the end.
    TIMED_OUT = "timed out"
    DRAINED = "drained"  # The worker must go.
    LOST = "lost"  # Somebody else owns the execution; nothing that this attempt says counts any more.


class Attempt:
    """`settle` is called once with the outcome; with None if there is nothing left to say.

    `leave` is called when its code is over, which may be later: then its slot is free. Perhaps twice.
    """

    # Of the class until they change: most attempts run well, and then these are never written.
    stop: Stop | None = None
    is_settled = False
    task: asyncio.Task[None] | None = None
    log_lines = 0
    log_bytes = 0
    log_is_full = False
    log_is_behind = False
    _alarm: asyncio.TimerHandle | None = None

    def __init__(
        self,
        leased: Leased,
        settle: Callable[[Attempt, Outcome | None], None],
        leave: Callable[[Attempt], None],
    ) -> None:
        self.leased = leased
        self._settle = settle
        self._leave = leave

    async def run(self, handler: Handler, context: Context) -> None:
        """Never raises: whatever user code does is an outcome."""
        RUNNING.set(self)
        definition = self.leased.revision.definition
        if definition.timeout is not None:
            self._ring_in(definition.timeout, self.ask_to_stop, Stop.TIMED_OUT)
        try:
            result = await handler.run(self.leased.payload.value, context)
            outcome = self._finished(result)
        except BaseException as error:
            outcome = self._ended_by(error)
        if self._alarm is not None:
            self._alarm.cancel()
        self._end(outcome)
        self._leave(self)

    def ask_to_stop(self, why: Stop) -> None:
        """Idempotent, except that a lost lease overrules every other reason: then nothing may be written."""
        if self.is_settled:
            return
        if self.stop is not None:
            self.stop = Stop.LOST if why is Stop.LOST else self.stop
            return
        self.stop = why
        assert self.task is not None
        # A task that is stopped before it began runs nothing, so `run` cannot say that it is over.
        self.task.add_done_callback(self._close)
        self.task.cancel()
        self._ring_in(STOP_GRACE, self._give_up)

    def _close(self, _: object) -> None:
        if not self.is_settled:
            outcome = self._stopped()
            self._end(Released(has_started=False) if isinstance(outcome, Released) else outcome)
        self._leave(self)

    def _give_up(self) -> None:
        """The handler does not stop. Its slot stays taken, but its execution need not wait for it."""
        self._end(self._stopped())

    def _end(self, outcome: Outcome | None) -> None:
        if not self.is_settled:
            self.is_settled = True
            self._settle(self, outcome)

    def _ring_in(self, delay: timedelta, ring: Callable[..., None], *arguments: object) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = asyncio.get_running_loop().call_later(delay.total_seconds(), ring, *arguments)

    def _finished(self, result: object) -> Outcome | None:
        if self.stop is not None and self.stop in (Stop.TIMED_OUT, Stop.LOST):
            return self._stopped()
        if result is None:
            return Succeeded()
        try:
            return Succeeded(Document.of(result, field="result", bytes_max=RESULT_BYTES_MAX))
        except GnomonError as error:
            return Failed(Failure("bad_result", str(error)), permanent=True)

    def _ended_by(self, error: BaseException) -> Outcome | None:
        if self.stop is not None:
            return self._stopped()
        try:
            self._log_error(error)
            return _outcome_of(error)
        except BaseException:  # The exception is broken itself, and may raise anything when it is looked at.
            return Failed(Failure(type(error).__name__, "It could not say what went wrong."))

    def _log_error(self, error: BaseException) -> None:
        match error:
            case JobFailed() | Snooze():
                return
            case NotHere():
                wait = NOT_HERE.total_seconds()
                _log.warning("%s In %g s it is offered again, maybe to another worker.", error, wait)
            case _:
                _log.warning("attempt %d raised", self.leased.attempt, exc_info=raised(error))

    def _stopped(self) -> Outcome | None:
        match self.stop:
            case Stop.CANCELLED:
                return Cancelled()
            case Stop.TIMED_OUT:
                return TimedOut()
            case Stop.DRAINED:
                return Released()
            case Stop.LOST:
                return None
            case None:
                raise AssertionError("nobody asked it to stop")
            case _:
                assert_never(self.stop)


def _outcome_of(error: BaseException) -> Outcome:
    match error:
        case JobFailed():
            return Failed(Failure(error.kind, str(error)), error.permanent, error.retry_after)
        case Snooze(delay=delay):
            return Snoozed(delay)
        case NotHere():
            return Snoozed(NOT_HERE, has_started=False, failure=Failure("not_here", str(error)))
        case _:
            # SystemExit and its like too: a job must not be able to end the worker.
            return Failed(Failure(type(error).__name__, str(error) or type(error).__name__))


# Which attempt the code that runs right now belongs to, also in the threads it starts.
RUNNING: ContextVar[Attempt | None] = ContextVar("gnomon_attempt", default=None)


async def states_of(leased: Sequence[Leased], checkpoints: CheckpointStore) -> Mapping[Claim, Document]:
    """Where earlier attempts came to. A first attempt has none, and costs no query."""
    again = {one.claim.execution_id: one.claim for one in leased if one.claim.number > 1}
    if not again:
        return {}
    found = await checkpoints.load(list(again))
    return {again[execution_id]: kept.state for execution_id, kept in found.items()}
