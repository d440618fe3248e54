"""Faults that stop everybody at once, or one process as if it were everybody: drawn apart from all others.

Their streams of chance and their numbers are their own, so the worlds of old seeds stay what they were.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random

from proof.simulator.scenarios.scenario import DATABASE, Fault, FaultKind, NodeSpec, Role

OUTAGE = 0.15  # Of all worlds.
_OUTAGE_NUMBER = 1_000_000
STANDSTILLS = frozenset({FaultKind.FREEZE, FaultKind.EXHAUSTED})
_STANDSTILL = 0.4  # Of all worlds.
_STANDSTILL_NUMBER = 2_000_000
_UNHEARD = 0.3  # Of all worlds.
_UNHEARD_NUMBER = 3_000_000


def draw_outage(chance: Random, *, until: float) -> Fault:
    """So long that a job which runs every other second misses more times than it may make up for."""
    seconds = min(chance.uniform(215, 270), until / 2)
    at = chance.uniform(30, until - seconds)
    return Fault(number=_OUTAGE_NUMBER, kind=FaultKind.DOWN, at=round(at, 3), seconds=round(seconds, 3))


def draw_standstills(
    chance: Random, kinds: Collection[FaultKind], nodes: Sequence[NodeSpec], *, until: float, lease: float
) -> list[Fault]:
    """Of the database, and of a pool of connections: some shorter than a lease, most of them longer."""
    if STANDSTILLS.isdisjoint(kinds) or chance.random() >= _STANDSTILL:
        return []
    drawn = chance.choices((FaultKind.FREEZE, FaultKind.EXHAUSTED), (2, 1), k=chance.randint(1, 4))
    processes = [node.name for node in nodes if node.role is not Role.CLIENT]
    return [
        Fault(
            number=_STANDSTILL_NUMBER + number,
            kind=kind,
            at=round(chance.uniform(30, until), 3),
            seconds=round(lease * chance.uniform(0.3, 2.5), 3),
            target=chance.choice(processes) if kind is FaultKind.EXHAUSTED else DATABASE,
        )
        for number, kind in enumerate(drawn)
    ]


def draw_unheard_fires(
    chance: Random, kinds: Collection[FaultKind], nodes: Sequence[NodeSpec], *, until: float
) -> list[Fault]:
    """A scheduler gets some answers and not others: it finds what is due, and may not hear that it fired."""
    if FaultKind.LOST_REPLY not in kinds or chance.random() >= _UNHEARD:
        return []
    scheduler = chance.choice([node.name for node in nodes if node.role is Role.SCHEDULER])
    return [
        Fault(
            number=_UNHEARD_NUMBER,
            kind=FaultKind.LOST_REPLY,
            at=round(chance.uniform(30, until), 3),
            seconds=round(chance.uniform(60, 180), 3),
            target=scheduler,
            amount=0.4,
        )
    ]
