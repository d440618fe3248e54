"""Does what the plan says, and writes down when each thing was broken and when it was not any more."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf

import asyncpg

from proof.campaign.cluster.nodes import RIGHT, Node
from proof.campaign.faults.disk import Disk
from proof.campaign.faults.proxy import Mode, PgProxy
from proof.campaign.plan import Fault, Kind
from proof.checker.history import events
from proof.checker.history.files import History
from tests.pooler import Pooler
from tests.postgres import PostgresServer, ShutdownMode

CROWD: Mapping[Kind, float] = {Kind.CROWD: 300, Kind.EXHAUSTED: inf}
TERMINATE_EVERY = 0.5
LOOK_AGAIN = 0.02
LAST = 1_000_000  # Numbers of faults after all those of the plan.
RESTARTS: Mapping[Kind, ShutdownMode] = {Kind.RESTART_FAST: "fast", Kind.RESTART_IMMEDIATE: "immediate"}


@dataclass
class Nemesis:
    history: History
    nodes: Mapping[str, Node]
    wires: Mapping[str, PgProxy]  # Of the nodes, and of the clients.
    server: PostgresServer
    database: str
    pooler: Pooler | None
    disk: Disk
    done: Counter[Kind] = field(default_factory=Counter)
    open: int = 0
    _lost: int = 0
    _turns: dict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    def __post_init__(self) -> None:
        for name, wire in self.wires.items():
            wire.faults.told = partial(self._reply_lost, name)

    async def carry_out(self, faults: Sequence[Fault]) -> None:
        """Each at its time, beside those that still last."""
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for fault in faults:
                await asyncio.sleep(max(0.0, began + fault.at - time.monotonic()))
                group.create_task(self._inflict(fault), name=f"{fault.kind} of {fault.target}")

    async def _inflict(self, fault: Fault) -> None:
        """One at a time for each target: what takes longer than planned holds up the next."""
        async with self._turns[fault.target]:
            self.open += 1
            try:
                await self._acts[fault.kind](fault)
            finally:
                self.open -= 1

    @property
    def _acts(self) -> Mapping[Kind, Callable[[Fault], Awaitable[None]]]:
        return {
            Kind.KILL: self._kill,
            Kind.DRAIN: self._drain,
            Kind.PAUSE: self._pause,
            Kind.CUT: self._cut,
            Kind.BLACK_HOLE: self._black_hole,
            Kind.LOST_REPLY: self._lose_a_reply,
            Kind.SKEW: self._skew,
            Kind.RESTART_FAST: self._restart,
            Kind.RESTART_IMMEDIATE: self._restart,
            Kind.TERMINATE: self._terminate,
            Kind.CROWD: self._crowd,
            Kind.EXHAUSTED: self._crowd,
            Kind.FREEZE: self._freeze,
            Kind.DISK_FULL: self._fill_the_disk,
            Kind.POOLER: self._restart_pooler,
            Kind.OUTAGE: self._outage,
        }

    # Writing down --------------------------------------------------------------------------------------

    def _begin(self, fault: Fault, target: str | None = None) -> None:
        self.done[fault.kind] += 1
        target = target or fault.target
        self.history.write(events.FaultBegin, kind=fault.kind, target=target, fault=f"f{fault.number}")

    def _end(self, fault: Fault, target: str | None = None) -> None:
        target = target or fault.target
        self.history.write(events.FaultEnd, kind=fault.kind, target=target, fault=f"f{fault.number}")

    def _reply_lost(self, name: str, op: str) -> None:
        self.done[Kind.LOST_REPLY] += 1
        self._lost += 1
        target = self.nodes[name].source if name in self.nodes else f"{name}/1"
        lost = {"kind": Kind.LOST_REPLY, "target": target, "fault": f"reply{self._lost}"}
        self.history.write(events.FaultBegin, op=op, **lost)
        self.history.write(events.FaultEnd, **lost)

    # Processes -----------------------------------------------------------------------------------------

    async def _kill(self, fault: Fault) -> None:
        node = self.nodes[fault.target]
        self._begin(fault)
        await node.kill()
        await asyncio.sleep(fault.seconds)
        await node.start()
        self._end(fault)

    async def _drain(self, fault: Fault) -> None:
        await self._leave(fault)
        await self.nodes[fault.target].start()

    async def _pause(self, fault: Fault) -> None:
        node = self.nodes[fault.target]
        self._begin(fault)
        node.send(signal.SIGSTOP)
        await asyncio.sleep(fault.seconds)
        node.send(signal.SIGCONT)
        self._end(fault)

    async def _outage(self, fault: Fault) -> None:
        nodes = [node for node in self.nodes.values() if node.role == "scheduler"]
        self._begin(fault)
        for node in nodes:
            node.send(signal.SIGSTOP)
        await asyncio.sleep(fault.seconds)
        for node in nodes:
            node.send(signal.SIGCONT)
        self._end(fault)

    async def _skew(self, fault: Fault) -> None:
        node = self.nodes[fault.target]
        self._begin(fault)
        node.set_clock(fault.detail)
        await asyncio.sleep(fault.seconds)
        node.set_clock(RIGHT)
        self._end(fault)

    # Wires ---------------------------------------------------------------------------------------------

    async def _cut(self, fault: Fault) -> None:
        wire = self.wires[fault.target]
        self._begin(fault)
        wire.faults.mode = Mode.REFUSE
        wire.cut_all()
        await asyncio.sleep(fault.seconds)
        wire.faults.forward()
        self._end(fault)

    async def _black_hole(self, fault: Fault) -> None:
        wire = self.wires[fault.target]
        self._begin(fault)
        wire.faults.hold()
        await asyncio.sleep(fault.seconds)
        wire.faults.forward()
        self._end(fault)

    async def _lose_a_reply(self, fault: Fault) -> None:
        """If nothing of the kind is said for a while, nothing gets lost, and nothing is written down."""
        faults = self.wires[fault.target].faults
        faults.lose = fault.detail
        until = time.monotonic() + fault.seconds
        while faults.is_losing and time.monotonic() < until:  # noqa: ASYNC110 - the wire does it.
            await asyncio.sleep(LOOK_AGAIN)
        faults.lose = None

    # The database --------------------------------------------------------------------------------------

    async def _restart(self, fault: Fault) -> None:
        self._begin(fault)
        await asyncio.to_thread(self.server.restart, RESTARTS[fault.kind])
        self._end(fault)

    async def _terminate(self, fault: Fault) -> None:
        """Every session but our own, again and again."""
        connection = await asyncpg.connect(self.server.dsn())
        self._begin(fault)
        try:
            until = time.monotonic() + fault.seconds
            while time.monotonic() < until:
                await connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", self.database
                )
                await asyncio.sleep(TERMINATE_EVERY)
        finally:
            self._end(fault)
            await connection.close()

    async def _crowd(self, fault: Fault) -> None:
        self._begin(fault)
        crowd: list[asyncpg.Connection] = []
        try:
            with suppress(OSError, asyncpg.PostgresError):
                while len(crowd) < CROWD[fault.kind]:
                    crowd.append(await asyncpg.connect(self.server.dsn(self.database)))
            await asyncio.sleep(fault.seconds)
        finally:
            self._end(fault)
            for connection in crowd:
                connection.terminate()

    async def _freeze(self, fault: Fault) -> None:
        self._begin(fault)
        try:
            self.server.send(signal.SIGSTOP)
            await asyncio.sleep(fault.seconds)
        finally:
            self.server.send(signal.SIGCONT)
            self._end(fault)

    async def _fill_the_disk(self, fault: Fault) -> None:
        """PostgreSQL may give up when it cannot write its log. Then who runs it starts it again."""
        self._begin(fault)
        with self.disk.full():
            await asyncio.sleep(fault.seconds)
        await asyncio.to_thread(self.server.revive)
        self._end(fault)

    async def _restart_pooler(self, fault: Fault) -> None:
        assert self.pooler is not None
        self._begin(fault)
        await asyncio.to_thread(self.pooler.restart)
        self._end(fault)

    # The end -------------------------------------------------------------------------------------------

    async def heal(self) -> None:
        """Everything has an end of its own; this makes sure of it, and says so."""
        assert self.open == 0
        for wire in self.wires.values():
            wire.faults.lose = None
            wire.faults.forward()
        for node in self.nodes.values():
            node.set_clock(RIGHT)
            if not node.is_up:
                await node.start()
        self.history.write(events.Heal)

    async def send_all_home(self) -> None:
        """In peace, and all at once. What they leave behind waits; nothing moves while it is read."""
        leaving = [Fault(LAST + number, Kind.DRAIN, name, 0.0, 0.0) for number, name in enumerate(self.nodes)]
        await asyncio.gather(*(self._leave(fault) for fault in leaving))

    async def _leave(self, fault: Fault) -> None:
        boot = self.nodes[fault.target].source
        self._begin(fault, boot)
        await self.nodes[fault.target].drain()
        self._end(fault, boot)
