"""What goes wrong, when the scenario says so; and how it all gets well again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from gnomon.engine.clock import LEARN_EVERY
from proof.checker.history import events
from proof.simulator.recording.pen import NEMESIS
from proof.simulator.scenarios.scenario import DATABASE, Fault, FaultKind, Role
from proof.simulator.world.network import FAIR, FaultyLine, Weather

if TYPE_CHECKING:
    from gnomon.testing.virtual.node import Boot
    from proof.simulator.world.node import SimulatedBoot, SimulatedNode
    from proof.simulator.world.world import World

AWAY = "away"
WRITTEN_REPLY_LOST = 0.5  # At least. They are few, and it is their loss that this is about.
KNOWS_THE_TIME = timedelta(seconds=1)
ASKS_FOR_THE_TIME = 2 * LEARN_EVERY  # What keeps it from asking for longer is another fault.
Undo = Callable[[], None]


class Nemesis:
    def __init__(self, world: World) -> None:
        self.count = 0
        self._world = world
        self._is_over = False
        self._open: dict[int, tuple[Fault, Undo | None]] = {}
        self._leaving: dict[str, Fault] = {}  # Nodes that were asked to leave, and come back later.
        self._crashes = 0

    def schedule(self, faults: Iterable[Fault]) -> None:
        for fault in faults:
            self._world.at(fault.at, self._begin, fault)

    def heal(self) -> None:
        """Everything that is open ends, and everybody who is dead is started."""
        self._is_over = True
        for number in list(self._open):
            self._end(number)
        for node in self._world.nodes.values():
            if node.boot is None:
                node.start()
        self._world.recorder.write(events.Heal, NEMESIS)

    def crash(self, boot: Boot) -> None:
        """Not the nemesis, but the same as if: a handler killed its own process."""
        self._crashes += 1
        at, seconds = self._world.loop.time(), self._world.scenario.crash_restarts_in
        self._begin(
            Fault(number=-self._crashes, kind=FaultKind.KILL, at=at, seconds=seconds, target=boot.node.name),
            is_job=True,
        )

    def has_left(self, node: SimulatedNode) -> None:
        """A node that drained is gone: its next boot comes a bit later. So long, others miss it."""
        fault = self._over(node)
        if fault is None or self._is_over:
            self._world.later(0.0, self._world.start_again, node)
            return
        fields = {"kind": AWAY, "target": node.name, "fault": f"{AWAY}-{fault.number}"}
        self._world.recorder.write(events.FaultBegin, NEMESIS, **fields)
        self._world.later(fault.seconds, self._come_back, node, fields)

    def _come_back(self, node: SimulatedNode, fields: dict[str, str]) -> None:
        if not self._is_over:
            self._world.recorder.write(events.FaultEnd, NEMESIS, **fields)
        self._world.start_again(node)

    def _over(self, node: SimulatedNode) -> Fault | None:
        """Its leaving is over: it has left, or was killed on the way."""
        fault = self._leaving.pop(node.name, None)
        if fault is not None:
            self._end(fault.number)
        return fault

    # One fault ------------------------------------------------------------------------------------------

    def _begin(self, fault: Fault, *, is_job: bool = False) -> None:
        if self._is_over and not is_job:
            return
        undo = self._do(fault)
        if undo is None:
            return  # There was nobody to hurt.
        self.count += 1
        self._open[fault.number] = (fault, undo)
        self._world.recorder.write(
            events.FaultBegin,
            NEMESIS,
            kind=str(fault.kind),
            target=self._hit(fault),
            fault=str(fault.number),
        )
        if fault.kind is not FaultKind.DRAIN:
            self._world.later(fault.seconds, self._end, fault.number)

    def _hit(self, fault: Fault) -> str:
        """Who leaves is one boot; all else befalls the machine."""
        return self._world.nodes[fault.target].source if fault.kind is FaultKind.DRAIN else fault.target

    def _end(self, number: int) -> None:
        if number not in self._open:
            return
        fault, undo = self._open.pop(number)
        if undo is not None:
            undo()
        node = self._world.nodes.get(fault.target)
        if fault.kind is FaultKind.SUSPEND and node is not None and node.boot and node.boot.process:
            self._end_when_told_the_time(fault, node.boot, patience=ASKS_FOR_THE_TIME)
        else:
            self._tell_end(fault)

    def _end_when_told_the_time(self, fault: Fault, boot: SimulatedBoot, patience: timedelta) -> None:
        """Who slept does not know it until the store tells what time it is. So long, its leases are short."""
        late = self._world.now() - boot.clock.now()
        if late < KNOWS_THE_TIME or boot.line.is_dead or patience <= timedelta(0):
            self._tell_end(fault)
        else:
            left = patience - KNOWS_THE_TIME
            self._world.later(KNOWS_THE_TIME.total_seconds(), self._end_when_told_the_time, fault, boot, left)

    def _tell_end(self, fault: Fault) -> None:
        self._world.recorder.write(
            events.FaultEnd, NEMESIS, kind=str(fault.kind), target=fault.target, fault=str(fault.number)
        )

    def _do(self, fault: Fault) -> Undo | None:
        """Make it so. Returns how to end it; None if it cannot be done now."""
        match fault.kind:
            case FaultKind.DOWN:
                return self._down(restart=False)
            case FaultKind.RESTART:
                return self._down(restart=True)
            case FaultKind.DEAF:
                return self._deaf()
            case FaultKind.FREEZE:
                return self._freeze()
            case FaultKind.SLOW if fault.target == DATABASE:
                lines = [node.boot.line for node in self._world.nodes.values() if node.boot is not None]
                return _all([_slow(line, fault.amount) for line in lines])
            case _:
                node = self._world.nodes.get(fault.target)
                return None if node is None or node.boot is None else self._do_to(fault, node, node.boot)

    def _do_to(self, fault: Fault, node: SimulatedNode, boot: SimulatedBoot) -> Undo | None:
        if fault.kind is FaultKind.SUSPEND and node.spec.role is Role.CLIENT:
            return None  # It asks for the time once; what it then says about an earlier one proves nothing.
        line, amount = boot.line, fault.amount
        deeds: dict[FaultKind, Callable[[], Undo | None]] = {
            FaultKind.KILL: lambda: self._kill(node),
            FaultKind.DRAIN: lambda: self._drain(fault, node, boot),
            FaultKind.PAUSE: lambda: self._hold(boot, everything=True),
            FaultKind.SUSPEND: lambda: self._suspend(boot),
            FaultKind.STALL: lambda: self._hold(boot, everything=False),
            FaultKind.CUT: lambda: _cut(line),
            FaultKind.REFUSED: lambda: _weather(line, Weather(refused=amount)),
            FaultKind.LATE: lambda: _weather(line, Weather(late=amount)),
            FaultKind.LOST_REPLY: lambda: _weather(
                line, Weather(reply_lost=amount, written_reply_lost=max(amount, WRITTEN_REPLY_LOST))
            ),
            FaultKind.SLOW: lambda: _slow(line, amount),
            FaultKind.SKEW: lambda: _skew(node, amount),
            FaultKind.EXHAUSTED: lambda: self._exhaust(line),
        }
        return deeds[fault.kind]()

    def _kill(self, node: SimulatedNode) -> Undo:
        node.kill()
        self._over(node)
        return lambda: self._world.start_again(node)

    def _drain(self, fault: Fault, node: SimulatedNode, boot: SimulatedBoot) -> Undo | None:
        if not boot.drain():
            return None
        self._leaving[node.name] = fault
        return _nothing

    def _down(self, *, restart: bool) -> Undo:
        network = self._world.network
        if restart:
            network.drop_store()
        else:
            network.is_down += 1
        return network.bring_store_back

    def _freeze(self) -> Undo:
        self._world.network.is_frozen += 1
        return self._world.network.thaw

    def _exhaust(self, line: FaultyLine) -> Undo:
        line.crowds += 1
        return partial(self._world.network.uncrowd, line)

    def _deaf(self) -> Undo:
        world = self._world
        world.is_deaf += 1

        def hear() -> None:
            world.is_deaf -= 1

        return hear

    def _hold(self, boot: SimulatedBoot, *, everything: bool) -> Undo:
        loop = self._world.loop
        strands = boot.strands if everything else boot.strands[:1]
        for strand in strands:
            loop.hold(strand)

        def let_go() -> None:
            for strand in strands:
                loop.let_go(strand)

        return let_go

    def _suspend(self, boot: SimulatedBoot) -> Undo:
        since, wake = self._world.loop.time(), self._hold(boot, everything=True)

        def undo() -> None:
            boot.slept += self._world.loop.time() - since
            wake()

        return undo


def _nothing() -> None:
    """It ends by itself."""


def _all(undos: list[Undo]) -> Undo:
    def undo() -> None:
        for one in undos:
            one()

    return undo


def _cut(line: FaultyLine) -> Undo:
    line.cuts += 1

    def mend() -> None:
        line.cuts -= 1

    return mend


def _slow(line: FaultyLine, factor: float) -> Undo:
    line.slow_down(factor)
    return partial(line.speed_up, factor)


def _weather(line: FaultyLine, weather: Weather) -> Undo:
    line.weather = weather

    def clear() -> None:
        line.weather = FAIR

    return clear


def _skew(node: SimulatedNode, seconds: float) -> Undo:
    node.skew += seconds

    def put_right() -> None:
        node.skew -= seconds

    return put_right
