"""Whether the machine lets the processes run: one that gets no processor is as good as stopped.

The kernel counts for how long a thread has waited for a processor. A long wait is a fault of the machine. It
is written down like one that the nemesis makes, so that a busy machine is not taken for a bug; reports count
it. A process that stands still although nothing stopped it is no such fault: what it waits for is kept, to be
found out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from proof.campaign import clock
from proof.campaign.cluster.nodes import Node
from proof.campaign.plan import Kind
from proof.checker.history import events
from proof.checker.history.files import History, Moment

LOOK_EVERY = 0.25
STARVED_SECONDS = 0.5
STILL_SECONDS = (
    2.0  # A worker that is well renews its leases more often, and so do the others what they hold.
)
_STOPPED = {"T", "t"}


class Schedule(NamedTuple):
    """Of the thread in which the loop of a process runs: how long it waited, and how often it was let run."""

    waited: float
    turns: int

    @classmethod
    def of(cls, process: Path) -> Schedule | None:
        """None if the process is gone, or the kernel does not count."""
        try:
            _, waited, turns = (process / "schedstat").read_text().split()
        except (OSError, ValueError):
            return None
        return cls(int(waited) / 1e9, int(turns))


class Seen(NamedTuple):
    schedule: Schedule
    since: float  # On the monotonic clock: when its last turn was noticed.


class Vitals:
    """`still` are the processes that stood still, and where."""

    def __init__(self, nodes: Mapping[str, Node], history: History) -> None:
        self._nodes = nodes
        self._history = history
        self._seen: dict[str, Seen] = {}
        self._starved = 0
        self.still: dict[str, str] = {}

    async def watch(self) -> None:
        while True:
            for node in self._nodes.values():
                if node.is_up and node.process is not None:
                    self.look(node.source, Path("/proc") / str(node.process.pid))
            await asyncio.sleep(LOOK_EVERY)

    def look(self, source: str, process: Path) -> None:
        found, now = Schedule.of(process), clock.now()
        if found is None:
            return
        seen = self._seen.get(source)
        if seen is None or found.turns != seen.schedule.turns:
            self._seen[source] = Seen(found, now.mono)
        if seen is None:
            return
        waited = found.waited - seen.schedule.waited
        if waited >= STARVED_SECONDS:
            self._starve(source, waited, now)
        elif found.turns == seen.schedule.turns and now.mono - seen.since >= STILL_SECONDS:
            self._keep(source, process, now.mono - seen.since)

    def _starve(self, source: str, waited: float, now: Moment) -> None:
        """It has had its turn since, at most a look ago."""
        self._starved += 1
        lost = {"kind": Kind.STARVED, "target": source, "fault": f"starved{self._starved}"}
        began = now.wall - timedelta(seconds=waited + LOOK_EVERY)
        self._history.write(events.FaultBegin, wall=began, **lost)
        self._history.write(events.FaultEnd, **lost)

    def _keep(self, source: str, process: Path, seconds: float) -> None:
        try:
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
            where = f"{(process / 'wchan').read_text()}, call {(process / 'syscall').read_text().strip()}"
        except OSError:  # It has ended, or the kernel does not tell.
            return
        if state not in _STOPPED:
            self.still[source] = f"{source} {seconds:.1f} s in state {state} at {where}"
