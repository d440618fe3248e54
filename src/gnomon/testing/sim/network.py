"""The way from nodes to the one real store: every call takes time to get there, and its answer to come back.

A call that is on the way belongs to the network: it arrives even if who sent it is dead by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from math import log
from random import Random
from typing import Any, NamedTuple, Protocol, cast

from gnomon.errors import StoreUnavailable
from gnomon.store.protocols.access import KeyStore, TenantStore
from gnomon.store.protocols.executions import CheckpointStore, DeadLetterStore, ExecutionStore, LogStore
from gnomon.store.protocols.jobs import CalendarStore, JobStore, ScheduleStore
from gnomon.store.protocols.operations import ShardStore, UpkeepStore, WorkerStore
from gnomon.store.protocols.workflows import DagStore, RunStore, WorkflowStore
from gnomon.testing.sim.loop import STRAND, Strand, VirtualLoop

# How long a caller waits for an answer that does not come, in seconds.
PATIENCE = (1.0, 30.0)
LATE = (5.0, 40.0)
CLOCK = "clock"
THAWS_WITHIN = 2.0  # Seconds, on average, until a database that stood still has seen to a question.
# After these, who does not get the answer cannot know what became of it, and it matters.
WRITES = frozenset(
    {
        ("executions", "claim"),
        ("executions", "apply"),
        ("executions", "apply_and_claim"),
        ("executions", "enqueue"),
        ("schedules", "fire"),
    }
)


class Call(NamedTuple):
    """One verb that a node asked for."""

    line: Line
    noun: str
    verb: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    answer: asyncio.Future[Any]


@dataclass(frozen=True, slots=True)
class Weather:
    """How likely it is that a call fares badly."""

    refused: float = 0.0  # It never arrives, and the caller learns so at once.
    late: float = 0.0  # It arrives long after.
    reply_lost: float = 0.0  # It was done, and the caller does not learn so.
    written_reply_lost: float = 0.0  # The same for verbs that hand out or decide something.


FAIR = Weather()


@dataclass(slots=True)
class Line:
    """The connection of one boot of a node. `store` is what that boot knows of the store, caches included."""

    source: str
    store: WorkflowStore
    chance: Random
    latency: float  # On average, one way, in seconds.
    cuts: int = 0
    slow: float = 1.0
    weather: Weather = FAIR
    is_dead: bool = field(default=False)
    # All connections but that of the heartbeat's thread are taken, and these calls wait for one.
    crowds: int = 0
    heartbeat: Strand | None = None
    waiting: list[Callable[[], None]] = field(default_factory=list)


class Observer(Protocol):
    """Sees every verb at the moment it was done, with its answer or what it raised."""

    async def done(self, call: Call, answer: Any, error: Exception | None) -> None: ...

    def reply_lost(self, call: Call, answer: Any) -> None: ...


class Network:
    def __init__(self, loop: VirtualLoop, *, now: Callable[[], Any], observer: Observer) -> None:
        self.is_down = 0
        self.is_frozen = 0
        self.calls = 0
        self._loop = loop
        self._now = now
        self._observer = observer
        self._context = copy_context()  # Not a node's: what is on the way is held by nobody.
        self._epoch = 0
        self._frozen: list[tuple[Call, float, bool]] = []

    def restart_store(self) -> None:
        """What is being answered at this moment is not answered."""
        self._epoch += 1

    def thaw(self) -> None:
        """It does all that it was asked to meanwhile, also what nobody waits for any more."""
        self.is_frozen -= 1
        if not self.is_frozen:
            frozen, self._frozen = self._frozen, []
            for call, back, is_lost in frozen:
                self._later(
                    -log(1.0 - call.line.chance.random()) * THAWS_WITHIN, self._arrive, call, back, is_lost
                )

    def uncrowd(self, line: Line) -> None:
        line.crowds -= 1
        if not line.crowds:
            waiting, line.waiting = line.waiting, []
            for send in waiting:
                send()

    async def ask(
        self, line: Line, noun: str, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if line.is_dead:
            raise asyncio.CancelledError
        self.calls += 1
        call = Call(line, noun, verb, args, kwargs, self._loop.create_future())
        draw, mean = line.chance.random, line.latency * line.slow
        # Every call draws the same number of times, whatever becomes of it. Both ways take exponential times.
        fate, there, back = draw(), -log(1.0 - draw()) * mean, -log(1.0 - draw()) * mean
        weather = line.weather
        is_lost = False
        if weather is not FAIR:
            if fate < weather.refused:
                self._later(there, self._fail, call, "the connection was refused")
                return await call.answer
            if fate < weather.refused + weather.late:
                there += LATE[0] + (LATE[1] - LATE[0]) * draw()
                self._give_up(call)
            else:
                lost = weather.written_reply_lost if (noun, verb) in WRITES else weather.reply_lost
                is_lost = fate < weather.refused + weather.late + lost
        send = partial(self._send, call, there, back, is_lost)
        if line.crowds and STRAND.get() is not line.heartbeat:
            line.waiting.append(send)
        else:
            send()
        return await call.answer

    def _send(self, call: Call, there: float, back: float, is_lost: bool) -> None:
        if there + back > PATIENCE[1]:
            self._later(PATIENCE[1], self._fail, call, "no answer in time")
        self._later(there, self._arrive, call, back, is_lost)

    def _later(self, delay: float, callback: Callable[..., None], *args: Any) -> None:
        self._loop.call_later(delay, callback, *args, context=self._context)

    def _arrive(self, call: Call, back: float, is_lost: bool) -> None:
        if call.line.cuts:
            self._give_up(call)
        elif self.is_down:
            self._later(back, self._fail, call, "the database is down")
        elif self.is_frozen:
            self._frozen.append((call, back, is_lost))
            self._later(PATIENCE[1], self._fail, call, "no answer in time")
        else:
            self._loop.start(self._serve(call, back, is_lost), self._context)

    async def _serve(self, call: Call, back: float, is_lost: bool) -> None:
        epoch, answer, error = self._epoch, None, None
        try:
            if call.noun:
                noun = getattr(call.line.store, call.noun)
                answer = await getattr(noun, call.verb)(*call.args, **call.kwargs)
            else:
                answer = self._now()
        except Exception as raised:  # Whatever it is, it is the caller's answer.
            error = raised
        await self._observer.done(call, answer, error)
        self._later(back, self._reply, call, answer, error, epoch, is_lost)

    def _reply(self, call: Call, answer: Any, error: Exception | None, epoch: int, is_lost: bool) -> None:
        if call.line.cuts or is_lost or epoch != self._epoch:
            self._observer.reply_lost(call, answer)
            self._give_up(call)
        elif not call.answer.done():
            if error is None:
                call.answer.set_result(answer)
            else:
                call.answer.set_exception(error)

    def _give_up(self, call: Call) -> None:
        shortest, longest = PATIENCE
        # Mostly soon: a connection that breaks is noticed at once, one that goes silent is not.
        delay = shortest + (longest - shortest) * call.line.chance.random() ** 4
        self._later(delay, self._fail, call, "no answer")

    def _fail(self, call: Call, why: str) -> None:
        if not call.answer.done():
            call.answer.set_exception(StoreUnavailable(f"Simulated: {call.noun}.{call.verb}: {why}."))


class _Noun:
    """Any noun of a store, by its verbs."""

    def __init__(self, network: Network, line: Line, name: str) -> None:
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

    def __init__(self, network: Network, line: Line) -> None:
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
