"""The network of a simulated world: calls are refused and late, and replies get lost, as its weather says.

Lines are cut and slowed down, the store stands still, connections run out. An observer sees all that is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import log
from typing import Any, Protocol, TypeAlias

from gnomon.testing.virtual import network
from gnomon.testing.virtual.loop import STRAND, Strand, VirtualLoop
from gnomon.testing.virtual.network import PATIENCE, Line, Network

LATE = (5.0, 40.0)
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


@dataclass(frozen=True, slots=True)
class Weather:
    """How likely it is that a call fares badly."""

    refused: float = 0.0  # It never arrives, and the caller learns so at once.
    late: float = 0.0  # It arrives long after.
    reply_lost: float = 0.0  # It was done, and the caller does not learn so.
    written_reply_lost: float = 0.0  # The same for verbs that hand out or decide something.


FAIR = Weather()


@dataclass(slots=True, eq=False)
class FaultyLine(Line):
    """A line with weather, which can be cut and slowed down."""

    cuts: int = 0
    weather: Weather = FAIR
    # All connections but that of the heartbeat's thread are taken, and these calls wait for one.
    crowds: int = 0
    heartbeat: Strand | None = None
    waiting: list[Callable[[], None]] = field(default_factory=list)
    _usual: float = field(init=False)
    _slow: float = 1.0

    def __post_init__(self) -> None:
        self._usual = self.latency

    def slow_down(self, factor: float) -> None:
        self._slow *= factor
        self.latency = self._usual * self._slow

    def speed_up(self, factor: float) -> None:
        self._slow /= factor
        self.latency = self._usual * self._slow


Call: TypeAlias = network.Call[FaultyLine]


class Observer(Protocol):
    """Sees every verb at the moment it was done, with its answer or what it raised."""

    async def done(self, call: Call, answer: Any, error: Exception | None) -> None: ...

    def reply_lost(self, call: Call, answer: Any) -> None: ...


class FaultyNetwork(Network[FaultyLine]):
    def __init__(self, loop: VirtualLoop, *, now: Callable[[], Any], observer: Observer) -> None:
        super().__init__(loop, now=now)
        self.is_frozen = 0
        self._observer = observer
        self._frozen: list[Call] = []
        self._lost: set[Call] = set()  # Their replies will not get through.

    def thaw(self) -> None:
        """It does all that it was asked to meanwhile, also what nobody waits for any more."""
        self.is_frozen -= 1
        if not self.is_frozen:
            frozen, self._frozen = self._frozen, []
            for call in frozen:
                self._later(-log(1.0 - call.line.chance.random()) * THAWS_WITHIN, self._arrive, call)

    def uncrowd(self, line: FaultyLine) -> None:
        line.crowds -= 1
        if not line.crowds:
            waiting, line.waiting = line.waiting, []
            for send in waiting:
                send()

    def _set_out(self, call: Call, fate: float) -> None:
        line, weather = call.line, call.line.weather
        if weather is not FAIR:
            if fate < weather.refused:
                self._later(call.there, self._fail, call, "the connection was refused")
                return
            if fate < weather.refused + weather.late:
                call.there += LATE[0] + (LATE[1] - LATE[0]) * line.chance.random()
                self._give_up(call)
            elif fate < weather.refused + weather.late + _reply_lost(call, weather):
                self._lost.add(call)
        if line.crowds and STRAND.get() is not line.heartbeat:
            line.waiting.append(partial(self._send, call))
        else:
            self._send(call)

    def _arrive(self, call: Call) -> None:
        if call.line.cuts:
            self._give_up(call)
        elif self.is_frozen and not self.is_down:
            self._frozen.append(call)
            self._later(PATIENCE[1], self._fail, call, "no answer in time")
        else:
            super()._arrive(call)

    async def _done(self, call: Call, answer: Any, error: Exception | None) -> None:
        await self._observer.done(call, answer, error)

    def _reply(self, call: Call, answer: Any, error: Exception | None, epoch: int) -> None:
        if call.line.cuts or call in self._lost:
            self._lose(call, answer)
        else:
            super()._reply(call, answer, error, epoch)

    def _lose(self, call: Call, answer: Any) -> None:
        self._observer.reply_lost(call, answer)
        super()._lose(call, answer)


def _reply_lost(call: Call, weather: Weather) -> float:
    return weather.written_reply_lost if (call.noun, call.verb) in WRITES else weather.reply_lost
