"""What a handler is, what it is given, and the ways in which it may end.

A handler returns a result, or raises. Whatever it raises is an outcome of the attempt, never an error of the
worker: `JobFailed` and `Snooze` say precisely what is meant, everything else is a failure whose kind is the
name of the exception's class.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from concurrent.futures import Future
from datetime import datetime, timedelta
from typing import Any, NoReturn, Protocol, runtime_checkable

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.lease import Leased
from gnomon.core.jobs.job import JobId
from gnomon.core.values.document import JSON, Document
from gnomon.core.values.limits import CHECKPOINT_BYTES_MAX

# What handlers write here is kept with the execution, like what they write to any other logger.
_log = logging.getLogger("gnomon.job")


def _check_duration(value: object, name: str) -> None:
    """Here, where user code is to be seen in the trace; later nobody would know who said it."""
    if not isinstance(value, timedelta):
        raise TypeError(f"{name} must be a timedelta, not {type(value).__name__}")


class JobFailed(Exception):
    """The attempt failed, in the handler's own words.

    `kind` is what `retry_on` of a retry policy compares. `permanent` means that no retry can help.
    `retry_after` asks for a longer wait than the policy's.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "failed",
        permanent: bool = False,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(message)
        if retry_after is not None:
            _check_duration(retry_after, "retry_after")
        self.kind = kind
        self.permanent = permanent
        self.retry_after = retry_after


class Snooze(Exception):
    """Call me again later. Costs no attempt."""

    def __init__(self, delay: timedelta) -> None:
        _check_duration(delay, "delay")
        super().__init__(f"Call again in {delay}.")
        self.delay = delay


class NotHere(Exception):
    """This worker lacks what the job needs, and another one may have it. Costs no attempt."""


class Stopped(BaseException):
    """Somebody asked for the end of this attempt, its time is up, or its lease is lost.

    Not an Exception: a handler that catches those must still come to its end.
    """


class Kept:
    """Something on its way into the store. Await it, or `wait` in a thread, to know that it is there."""

    __slots__ = ("_future",)

    def __init__(self, future: Future[None]) -> None:
        self._future = future

    def __await__(self) -> Generator[Any, None, None]:
        return asyncio.wrap_future(self._future).__await__()

    def wait(self, timeout: timedelta | None = None) -> None:
        self._future.result(None if timeout is None else timeout.total_seconds())


class Attendant(Protocol):
    """What the worker does for its running attempts. Every method may be called from any thread."""

    def checkpoint(self, leased: Leased, state: Document, progress: float | None) -> Future[None]:
        """Save on the way. The future fails with LeaseLost if somebody else runs the execution by now."""

    def is_stopping(self, leased: Leased) -> bool:
        """Whether the attempt shall end: cancelled, out of time, lease lost, or the worker must go."""


class Context:
    """What a running attempt may know and do. Safe to use from any thread."""

    __slots__ = ("_attendant", "_leased", "_state")

    def __init__(self, leased: Leased, attendant: Attendant, state: Document | None = None) -> None:
        self._leased = leased
        self._attendant = attendant
        self._state = state

    @property
    def execution_id(self) -> ExecutionId:
        return self._leased.claim.execution_id

    @property
    def job_id(self) -> JobId:
        return self._leased.job_id

    @property
    def tenant_id(self) -> TenantId:
        return self._leased.tenant_id

    @property
    def attempt(self) -> int:
        """The number of this try, from 1. A drain or a snooze does not count."""
        return self._leased.attempt

    @property
    def claim(self) -> int:
        """Which hand-out this is. It only grows: of two writers, the one with the lower number is late."""
        return self._leased.claim.number

    @property
    def token(self) -> str:
        """The fencing token in one word, for a receiver that wants to refuse late or repeated work."""
        return f"{self._leased.claim.execution_id}:{self._leased.claim.number}"

    @property
    def nominal_time(self) -> datetime | None:
        """The time on the schedule that this run is for; None if it was asked for by hand."""
        return self._leased.nominal_time

    @property
    def due(self) -> datetime:
        return self._leased.due

    @property
    def timeout(self) -> timedelta | None:
        """How long an attempt may take."""
        return self._leased.revision.definition.timeout

    @property
    def input(self) -> JSON:
        """What this one execution was given, beside the payload of its job; None if there is nothing."""
        return None if self.given is None else self.given.value

    @property
    def given(self) -> Document | None:
        """The input as it is kept. For handlers that decode it into types of their own."""
        return None if self._leased.revision.is_task else self._leased.input

    @property
    def state(self) -> JSON:
        """What the last checkpoint kept, of this execution's earlier attempts; None if there is none."""
        return None if self._state is None else self._state.value

    @property
    def log(self) -> logging.Logger:
        return _log

    @property
    def cancelled(self) -> bool:
        """Whether to come to an end soon. A function in a thread that never looks is stopped less kindly."""
        return self._attendant.is_stopping(self._leased)

    def heartbeat(self) -> None:
        """Raise Stopped if this attempt shall end. Cheap: call it wherever the work can be left."""
        if self.cancelled:
            raise Stopped

    def checkpoint(self, state: object, progress: float | None = None) -> Kept:
        """Keep `state` for the next attempt, and how far the work has come (0 to 1) for people to see."""
        document = Document.of(state, field="state", bytes_max=CHECKPOINT_BYTES_MAX)
        return Kept(self._attendant.checkpoint(self._leased, document, progress))

    def snooze(self, delay: timedelta) -> NoReturn:
        raise Snooze(delay)

    def fail(self, message: str, *, kind: str = "failed", permanent: bool = False) -> NoReturn:
        raise JobFailed(message, kind=kind, permanent=permanent)


class Handler(Protocol):
    """Runs the executions of one kind. docs/how-to/write-a-handler.md has an example that runs."""

    @property
    def kind(self) -> str: ...

    def check(self, payload: JSON) -> None:
        """Called when a job is saved. Raises InvalidInput that names the field and what is wrong with it."""

    async def run(self, payload: JSON, context: Context) -> JSON:
        """One attempt. Its payload is what `check` was given, or what a template of a workflow came to.

        The value belongs to the attempt, which may change it. It is cancelled when it shall stop, and must
        leave nothing running behind.
        """


@runtime_checkable
class Closing(Protocol):
    """A handler that holds something, such as connections or threads, and gives it back at the end."""

    async def aclose(self) -> None: ...


@runtime_checkable
class Tidying(Protocol):
    """A handler whose work may leave something on the machine when its process is killed."""

    async def tidy(self) -> None:
        """Remove what dead processes left. Called when a worker starts, and every ten minutes."""
