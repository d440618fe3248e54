"""The way from nodes to the one real store: every call takes time to get there, and its answer to come back.

A call that is on the way belongs to the network: it arrives even if its sender is dead by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass
from math import log
from random import Random
from typing import Any, Generic, TypeVar, cast

from gnomon.errors import StoreUnavailable
from gnomon.store.protocols.access import KeyStore, TenantStore
from gnomon.store.protocols.executions import CheckpointStore, DeadLetterStore, ExecutionStore, LogStore
from gnomon.store.protocols.jobs import CalendarStore, JobStore, ScheduleStore
from gnomon.store.protocols.operations import ShardStore, UpkeepStore, WorkerStore
from gnomon.store.protocols.workflows import DagStore, RunStore, WorkflowStore
from gnomon.testing.virtual.loop import VirtualLoop

# How long a caller waits for an answer that does not come, in seconds.
PATIENCE = (1.0, 30.0)
CLOCK = "clock"


@dataclass(slots=True, eq=False)
class Line:
    """The connection of one boot of a node. `store` is what that boot knows of the store, caches included."""

    source: str
    store: WorkflowStore
    chance: Random
    latency: float  # On average, one way, in seconds.
    is_dead: bool = False


AnyLine = TypeVar("AnyLine", bound=Line)


@dataclass(slots=True, eq=False)
class Call(Generic[AnyLine]):
    """One verb that a node asked for. `there` and `back` are how long its two ways take, in seconds."""

    line: AnyLine
    noun: str
    verb: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    answer: asyncio.Future[Any]
    there: float
    back: float


class Network(Generic[AnyLine]):
    """Slow, and without an answer while the store is away. Nothing else goes wrong on it."""

    def __init__(self, loop: VirtualLoop, *, now: Callable[[], Any]) -> None:
        self.is_down = 0
        self.calls = 0
        self._loop = loop
        self._now = now
        self._context = copy_context()  # Not a node's: what is on the way is held by nobody.
        self._epoch = 0

    def drop_store(self) -> None:
        """It goes away. What is being answered at this moment is not answered."""
        self.is_down += 1
        self._epoch += 1

    def bring_store_back(self) -> None:
        self.is_down -= 1

    async def ask(
        self, line: AnyLine, noun: str, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if line.is_dead:
            raise asyncio.CancelledError
        self.calls += 1
        draw, mean = line.chance.random, line.latency
        # Every call draws the same number of times, whatever becomes of it. Both ways take exponential times.
        fate, there, back = draw(), -log(1.0 - draw()) * mean, -log(1.0 - draw()) * mean
        call = Call(line, noun, verb, args, kwargs, self._loop.create_future(), there, back)
        self._set_out(call, fate)
        return await call.answer

    def _set_out(self, call: Call[AnyLine], fate: float) -> None:
        """`fate`, from 0 to 1, says how a call fares on a network that loses some."""
        self._send(call)

    def _send(self, call: Call[AnyLine]) -> None:
        if call.there + call.back > PATIENCE[1]:
            self._later(PATIENCE[1], self._fail, call, "no answer in time")
        self._later(call.there, self._arrive, call)

    def _later(self, delay: float, callback: Callable[..., None], *args: Any) -> None:
        self._loop.call_later(delay, callback, *args, context=self._context)

    def _arrive(self, call: Call[AnyLine]) -> None:
        if self.is_down:
            self._later(call.back, self._fail, call, "the database is down")
        else:
            self._loop.start(self._serve(call), self._context)

    async def _serve(self, call: Call[AnyLine]) -> None:
        epoch, answer, error = self._epoch, None, None
        try:
            if call.noun:
                noun = getattr(call.line.store, call.noun)
                answer = await getattr(noun, call.verb)(*call.args, **call.kwargs)
            else:
                answer = self._now()
        except Exception as raised:  # Whatever it is, it is the caller's answer.
            error = raised
        await self._done(call, answer, error)
        self._later(call.back, self._reply, call, answer, error, epoch)

    async def _done(self, call: Call[AnyLine], answer: Any, error: Exception | None) -> None:
        """The store has done it at this moment, and the caller does not know yet."""

    def _reply(self, call: Call[AnyLine], answer: Any, error: Exception | None, epoch: int) -> None:
        if epoch != self._epoch:
            self._lose(call, answer)
        elif not call.answer.done():
            if error is None:
                call.answer.set_result(answer)
            else:
                call.answer.set_exception(error)

    def _lose(self, call: Call[AnyLine], answer: Any) -> None:
        """It was done, and the caller does not hear of it."""
        self._give_up(call)

    def _give_up(self, call: Call[AnyLine]) -> None:
        shortest, longest = PATIENCE
        # Mostly soon: a connection that breaks is noticed at once, one that goes silent is not.
        delay = shortest + (longest - shortest) * call.line.chance.random() ** 4
        self._later(delay, self._fail, call, "no answer")

    def _fail(self, call: Call[AnyLine], why: str) -> None:
        if not call.answer.done():
            call.answer.set_exception(StoreUnavailable(f"Simulated: {call.noun}.{call.verb}: {why}."))


class _Noun:
    """Any noun of a store, by its verbs."""

    def __init__(self, network: Network[Any], line: Line, name: str) -> None:
        self._network = network
        self._line = line
        self._name = name

    def __getattr__(self, verb: str) -> Any:
        network, line, name = self._network, self._line, self._name

        def ask(*args: Any, **kwargs: Any) -> Any:
            return network.ask(line, name, verb, args, kwargs)

        setattr(self, verb, ask)
        return ask


class RemoteStore:
    """The store as a node sees it, over its line."""

    def __init__(self, network: Network[AnyLine], line: AnyLine) -> None:
        self._network = network
        self._line = line
        self.tenants = cast("TenantStore", _Noun(network, line, "tenants"))
        self.jobs = cast("JobStore", _Noun(network, line, "jobs"))
        self.schedules = cast("ScheduleStore", _Noun(network, line, "schedules"))
        self.executions = cast("ExecutionStore", _Noun(network, line, "executions"))
        self.checkpoints = cast("CheckpointStore", _Noun(network, line, "checkpoints"))
        self.logs = cast("LogStore", _Noun(network, line, "logs"))
        self.dead_letters = cast("DeadLetterStore", _Noun(network, line, "dead_letters"))
        self.workers = cast("WorkerStore", _Noun(network, line, "workers"))
        self.keys = cast("KeyStore", _Noun(network, line, "keys"))
        self.calendars = cast("CalendarStore", _Noun(network, line, "calendars"))
        self.shards = cast("ShardStore", _Noun(network, line, "shards"))
        self.upkeep = cast("UpkeepStore", _Noun(network, line, "upkeep"))
        self.dags = cast("DagStore", _Noun(network, line, "dags"))
        self.runs = cast("RunStore", _Noun(network, line, "runs"))

    def clock(self) -> Any:
        """True time, which is the store's, after a way there and a way back."""
        return self._network.ask(self._line, "", CLOCK, (), {})

    async def close(self) -> None:
        """The store is everybody's and stays."""
