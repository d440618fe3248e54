"""What a worker of a journey runs: the handlers of an app, with a witness to each call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any, Literal, Protocol

from gnomon.core.executions.execution import ExecutionId
from gnomon.core.values.document import JSON
from gnomon.handlers.base import Closing, Context, Handler
from gnomon.handlers.python.functions import Functions
from gnomon.testing.stubs import job_name
from gnomon.testing.virtual.node import Boot

When = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Call:
    """A function was called."""

    job: str
    at: datetime
    nominal_time: datetime | None
    execution_id: ExecutionId
    attempt: int


class Trip(Protocol):
    """A journey, as far as a worker on it matters."""

    @property
    def crashes(self) -> dict[int, When]: ...
    @property
    def calls(self) -> list[Call]: ...
    def now(self) -> datetime: ...
    def called(self, call: Call) -> None: ...
    def crash(self, boot: Boot) -> None: ...


class Watched:
    """A handler whose calls are written down, and may be the last thing that its worker does."""

    def __init__(self, trip: Trip, boot: Boot, handler: Handler) -> None:
        self.kind = handler.kind
        self.check = handler.check
        self._handler = handler
        self._trip = trip
        self._boot = boot

    async def run(self, payload: JSON, context: Context) -> JSON:
        trip = self._trip
        name = job_name(self._handler, payload)
        trip.called(Call(name, trip.now(), context.nominal_time, context.execution_id, context.attempt))
        crashes = trip.crashes.get(len(trip.calls))
        if crashes == "before":
            await self._crash()
        try:
            return await self._handler.run(payload, context)
        finally:
            if crashes == "after":
                await self._crash()

    async def aclose(self) -> None:
        if isinstance(self._handler, Closing):
            await self._handler.aclose()

    async def _crash(self) -> None:
        """Nothing of this process runs any more, so nothing comes after it."""
        self._trip.crash(self._boot)
        await asyncio.get_running_loop().create_future()


def in_the_loop(functions: Functions) -> Functions:
    """The same functions without threads and processes: there are none where time is virtual."""
    here = Functions()
    for function in functions:
        here.add(function.name, function.call if function.is_async else _as_async(function.call))
    return here


def _as_async(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call
