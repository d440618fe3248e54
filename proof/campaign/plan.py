"""What goes wrong, and when: drawn from a seed before the campaign begins, so it can be told and repeated."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

DATABASE = "db"
SCHEDULERS = ("s1", "s2", "s3")
WORKERS = ("w1", "w2", "w3", "w4")
API_NODES = ("a1", "a2")
CLIENTS = ("c1", "c2")
# Whose statements of each kind may lose their reply.
WHO_SAYS = {"claim": WORKERS, "fire": SCHEDULERS, "complete": WORKERS, "submit": API_NODES}
POOLED = "w2"  # The one that reaches the database through PgBouncer.
GAPS, SHORT_GAPS = (2.0, 6.0), (0.8, 2.4)  # Seconds between two faults; less if there is little time.
SHORT_SECONDS = 60.0
# Somebody of each kind always works, or the times to take over would say nothing.
BROKEN_MAX = {"s": 2, "w": 2, "a": 1, "d": 1}
OUTAGE_SECONDS = 112.0  # So long that a job that runs every second misses more than a hundred times.
OUTAGE_MIN_SECONDS = 480.0


class Kind(StrEnum):
    """The words for faults in the history. Some of them mean something to the checker."""

    KILL = "kill"
    DRAIN = "term"
    PAUSE = "pause"
    CUT = "cut"
    BLACK_HOLE = "black_hole"
    LOST_REPLY = "lost_reply"
    SKEW = "skew"
    RESTART_FAST = "restart_fast"
    RESTART_IMMEDIATE = "restart_immediate"
    TERMINATE = "terminate_backends"
    CROWD = "idle_connections"
    EXHAUSTED = "pool_exhausted"
    FREEZE = "freeze"
    DISK_FULL = "disk_full"
    POOLER = "restart_pooler"
    OUTAGE = "no_scheduler"
    STARVED = "starved"  # By the machine: no plan has it.


WHAT = {
    Kind.KILL: "SIGKILL, and a new boot a moment later",
    Kind.DRAIN: "SIGTERM, and a new boot when it has left",
    Kind.PAUSE: "SIGSTOP, half of them past the lease, then SIGCONT",
    Kind.CUT: "its connections are reset, and new ones refused",
    Kind.BLACK_HOLE: "nothing gets through, and nobody is told; then all of it at once",
    Kind.LOST_REPLY: "cut after the COMMIT, before the reply",
    Kind.SKEW: "its wall clock is set by 30 s or an hour",
    Kind.RESTART_FAST: "PostgreSQL restarts, mode `fast`",
    Kind.RESTART_IMMEDIATE: "PostgreSQL crashes and recovers, mode `immediate`",
    Kind.TERMINATE: "`pg_terminate_backend` on every session, twice a second",
    Kind.CROWD: "300 idle connections",
    Kind.EXHAUSTED: "every connection that PostgreSQL has left is taken",
    Kind.FREEZE: "SIGSTOP of the whole PostgreSQL, half of them past the lease, then SIGCONT",
    Kind.DISK_FULL: "no space left on the disk of the database",
    Kind.POOLER: "PgBouncer is killed and started again",
    Kind.OUTAGE: "all schedulers stand still",
    Kind.STARVED: "not planned: the machine gave it no processor for half a second or longer",
}
_WEIGHTS = {
    Kind.KILL: 22, Kind.PAUSE: 16, Kind.LOST_REPLY: 16, Kind.CUT: 10, Kind.SKEW: 8, Kind.DRAIN: 8,
    Kind.BLACK_HOLE: 6, Kind.RESTART_FAST: 5, Kind.RESTART_IMMEDIATE: 5, Kind.POOLER: 4, Kind.TERMINATE: 3,
    Kind.CROWD: 2, Kind.DISK_FULL: 2, Kind.EXHAUSTED: 2, Kind.FREEZE: 3,
}  # fmt: skip
_OF_DATABASE = {
    Kind.RESTART_FAST, Kind.RESTART_IMMEDIATE, Kind.TERMINATE, Kind.CROWD, Kind.EXHAUSTED, Kind.FREEZE,
    Kind.DISK_FULL,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """`detail`: the kind of statement whose reply gets lost, or by how much a clock is set."""

    number: int
    kind: Kind
    target: str
    at: float  # Seconds since the beginning.
    seconds: float
    detail: str = ""

    @property
    def until(self) -> float:
        return self.at + self.seconds


def draw(seed: int, *, seconds: float, lease: float, without: Collection[Kind] = ()) -> Sequence[Fault]:
    chance = Random(seed)
    has_outage = seconds >= OUTAGE_MIN_SECONDS and Kind.OUTAGE not in without
    until = seconds - (OUTAGE_SECONDS + 2 * lease if has_outage else 0)
    kinds = [kind for kind in _WEIGHTS if kind not in without]
    faults: list[Fault] = []
    gaps = GAPS if seconds > SHORT_SECONDS else SHORT_GAPS
    at = chance.uniform(*gaps)
    while at < until:
        # Each kind once, before any comes by chance: a short campaign has seen them all, too.
        fresh = [kind for kind in kinds if all(one.kind is not kind for one in faults)]
        kind = chance.choice(fresh or chance.choices(kinds, [_WEIGHTS[kind] for kind in kinds], k=1))
        fault = _drawn(chance, kind, at=at, number=len(faults) + 1, lease=lease, busy=faults)
        if fault is not None:
            faults.append(fault)
        at += chance.uniform(*gaps)
    if has_outage:
        # Alone: who takes back what dead workers held stands still, too.
        faults.append(Fault(len(faults) + 1, Kind.OUTAGE, "schedulers", until + 2 * lease, OUTAGE_SECONDS))
    return faults


def _drawn(
    chance: Random, kind: Kind, *, at: float, number: int, lease: float, busy: Sequence[Fault]
) -> Fault | None:
    """None if everybody it could hit is broken already."""
    seconds = _seconds(chance, kind, lease)
    detail = _detail(chance, kind, before=sum(one.kind is kind for one in busy))
    near = [one.target for one in busy if one.until + 1.0 > at]
    free = [
        target
        for target in _targets(kind, detail)
        if target not in near and sum(one[0] == target[0] for one in near) < BROKEN_MAX[target[0]]
    ]
    if not free:
        return None
    return Fault(number, kind, chance.choice(free), round(at, 3), round(seconds, 3), detail)


def _targets(kind: Kind, detail: str) -> Sequence[str]:
    match kind:
        case _ if kind in _OF_DATABASE:
            return (DATABASE,)
        case Kind.POOLER:
            return (POOLED,)
        case Kind.LOST_REPLY:
            return WHO_SAYS[detail]
        case _:
            return (*SCHEDULERS, *WORKERS, *API_NODES)


def _seconds(chance: Random, kind: Kind, lease: float) -> float:
    match kind:
        case Kind.KILL:
            return chance.uniform(0.2, 2.0)
        case Kind.PAUSE | Kind.FREEZE:
            return chance.choice((chance.uniform(0.5, 3.0), lease * chance.uniform(1.3, 2.0)))
        case Kind.CUT:
            return chance.choice((0.1, chance.uniform(0.5, 0.5 * lease)))
        case Kind.BLACK_HOLE:
            return lease * chance.uniform(0.3, 1.5)
        case Kind.TERMINATE | Kind.SKEW | Kind.CROWD | Kind.EXHAUSTED:
            return chance.uniform(3.0, 8.0)
        case Kind.DISK_FULL:
            return chance.uniform(2.0, 5.0)
        case Kind.LOST_REPLY:
            return 4.0  # At most: it is over when one was lost.
        case _:
            return 1.0  # As long as it takes.


def _detail(chance: Random, kind: Kind, *, before: int) -> str:
    if kind is Kind.SKEW:
        return chance.choice(("+30", "-30", "+3600", "-3600"))
    if kind is Kind.LOST_REPLY:
        return list(WHO_SAYS)[before % len(WHO_SAYS)]
    return ""
