"""Work that is due and that no live worker can run: how much there is, and what the workers lack."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gnomon.core.executions.execution import ExecutionId, WorkerId
from gnomon.core.executions.lease import Lane, Offer
from gnomon.core.jobs.job import DAG_KIND


class Lack(StrEnum):
    """What no live worker has, in the order in which it is looked for."""

    WORKER = "worker"  # No worker is alive.
    KIND = "kind"
    QUEUE = "queue"
    CAPABILITY = "capability"
    TOGETHER = "together"  # Each has one part of it, none has all.
    FUNCTION = "function"  # All that fit turned it away.


class LiveWorker(NamedTuple):
    id: WorkerId
    kinds: frozenset[str]
    queues: frozenset[str]
    capabilities: frozenset[str]


@dataclass(frozen=True, slots=True)
class WaitingInLane:
    """In a lane: so many are due, counted up to a limit, and the first of them."""

    lane: Lane
    count: int
    first: ExecutionId


class TurnedAway(NamedTuple):
    """An execution that waits, a worker that turned it away since it was started, and what that said."""

    execution_id: ExecutionId
    worker: WorkerId
    lane: Lane
    told: str


@dataclass(frozen=True, slots=True)
class Stuck:
    """Executions that no live worker can run, for one reason; counted up to a limit."""

    lack: Lack
    lane: Lane
    count: int
    first: ExecutionId
    told: str


def lacking(lane: Lane, live: Collection[Offer]) -> list[tuple[Lack, str]]:
    """What no live worker has, one by one, in words. Meant for a lane that none of them fits."""
    if not live:
        return [(Lack.WORKER, "any worker that is alive")]
    found = []
    if not any(lane.kind in one.kinds for one in live):
        found.append((Lack.KIND, f"the kind {lane.kind!r}"))
    if not any(lane.queue in one.queues for one in live):
        found.append((Lack.QUEUE, f"the queue {lane.queue!r}"))
    found += [
        (Lack.CAPABILITY, f"the capability {name!r}")
        for name in sorted(lane.capabilities)
        if not any(name in one.capabilities for one in live)
    ]
    return found or [(Lack.TOGETHER, "all that it needs at once")]


def lacks_in_words(lane: Lane, live: Collection[Offer]) -> str:
    if not live:
        return "No worker is alive."
    return f"No live worker has {', '.join(words for _, words in lacking(lane, live))}."


def lanes_without_worker(lanes: Mapping[Lane, int], live: Collection[Offer]) -> dict[Lane, int]:
    """Those that no live worker fits. A run of a workflow needs none."""
    return {
        lane: number
        for lane, number in lanes.items()
        if lane.kind != DAG_KIND and not any(lane.fits(one) for one in live)
    }


def unrunnable(
    waiting: Sequence[WaitingInLane], turned_away: Sequence[TurnedAway], live: Sequence[LiveWorker]
) -> list[Stuck]:
    """`waiting` is in lanes that no live worker fits."""
    stuck = [
        Stuck(lacking(one.lane, live)[0][0], one.lane, one.count, one.first, lacks_in_words(one.lane, live))
        for one in waiting
    ]
    return stuck + list(_without_function(turned_away, live))


def _without_function(turned_away: Sequence[TurnedAway], live: Sequence[LiveWorker]) -> Iterator[Stuck]:
    """What one execution was told holds for all that were told the same: they lack the same function."""
    asked = defaultdict[tuple[Lane, str], set[WorkerId]](set)
    executions = defaultdict[tuple[Lane, str], set[ExecutionId]](set)
    for one in turned_away:
        asked[one.lane, one.told].add(one.worker)
        executions[one.lane, one.told].add(one.execution_id)
    for key, ids in executions.items():
        lane, told = key
        fitting = {worker.id for worker in live if lane.fits(worker)}
        if fitting and fitting <= asked[key]:
            words = f"Every live worker that fits turned it away: {told}"
            yield Stuck(Lack.FUNCTION, lane, len(ids), min(ids), words)
