"""Which worlds there are: a profile says what may go wrong and how often, a seed draws one world from it.

Swarm testing: a world that has all faults at once seldom gets far. So every seed draws which kinds of faults
exist in it, and how often; each combination comes up some time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

from msgspec.structs import replace

from gnomon.errors import InvalidInput
from gnomon.testing.virtual.chance import Chance
from proof.simulator.scenarios.behaviour import Behaviour
from proof.simulator.scenarios.scenario import (
    Act,
    Fault,
    FaultKind,
    JobSpec,
    NodeSpec,
    Role,
    Scenario,
    Verb,
)
from proof.simulator.seeds.flow_workload import draw_flow_acts, draw_flows
from proof.simulator.seeds.outages import (
    OUTAGE,
    STANDSTILLS,
    draw_outage,
    draw_standstills,
    draw_unheard_fires,
)
from proof.simulator.seeds.workload import QUEUES, draw_acts, draw_jobs, draw_poison

QUIET = 420.0  # Seconds at the end in which nothing goes wrong: what is owed must be done by then.
CALM_SECOND_HALF = 0.25
KIND_EXISTS = 0.45
SWIZZLE = 0.2
HITS_A_WORKER = 0.5
LEASE_MAX = 30.0

# When a world begins: on plain days, and shortly before clocks are changed somewhere. Then there is a job
# that is due in the time which is lost or repeated.
STARTS: dict[datetime, tuple[str, str] | None] = {
    datetime(2026, 1, 15, 11, 57, tzinfo=UTC): None,
    datetime(2026, 5, 31, 23, 40, tzinfo=UTC): None,
    # New York loses an hour at 07:00, and repeats one at 06:00.
    datetime(2026, 3, 8, 6, 45, tzinfo=UTC): ("America/New_York", "*/20 2 * * *"),
    datetime(2026, 11, 1, 5, 50, tzinfo=UTC): ("America/New_York", "*/5 1 * * *"),
    # So does Berlin, at 01:00.
    datetime(2026, 3, 29, 0, 45, tzinfo=UTC): ("Europe/Berlin", "*/20 2 * * *"),
    datetime(2026, 10, 25, 0, 50, tzinfo=UTC): ("Europe/Berlin", "*/5 2 * * *"),
    # Lord Howe Island loses half an hour at 15:30, and repeats one at 15:00.
    datetime(2026, 10, 3, 15, 15, tzinfo=UTC): ("Australia/Lord_Howe", "5,15 2 * * *"),
    datetime(2026, 4, 4, 14, 50, tzinfo=UTC): ("Australia/Lord_Howe", "*/5 1 * * *"),
}

BUSY = JobSpec(name="busy", every=2.0, misfire="FIRE_ALL", grace=5.0, behaviour=Behaviour(longest=0.1))

_NODE_FAULTS = (
    FaultKind.KILL, FaultKind.DRAIN, FaultKind.PAUSE, FaultKind.SUSPEND, FaultKind.STALL, FaultKind.CUT,
    FaultKind.REFUSED, FaultKind.LATE, FaultKind.LOST_REPLY, FaultKind.SLOW, FaultKind.SKEW,
)  # fmt: skip
_STORE_FAULTS = (FaultKind.DOWN, FaultKind.RESTART, FaultKind.DEAF, FaultKind.SLOW)


@dataclass(frozen=True, slots=True)
class Profile:
    """`kinds` are those that a seed draws from; with `all_kinds`, every world has all of them."""

    name: str
    about: str
    kinds: frozenset[FaultKind]
    per_hour: tuple[float, float] = (20.0, 240.0)
    all_kinds: bool = False


_K = FaultKind
PROFILES = {
    profile.name: profile
    for profile in (
        Profile("swarm", "every kind of fault, a few in each world", frozenset(FaultKind)),
        Profile("storm", "every kind of fault in every world, often", frozenset(FaultKind), (300, 600), True),
        Profile("calm", "no faults", frozenset()),
        Profile("crashes", "processes die, drain and restart", frozenset({_K.KILL, _K.DRAIN})),
        Profile("pauses", "processes stand still", frozenset({_K.PAUSE, _K.SUSPEND, _K.STALL})),
        Profile(
            "network",
            "messages get lost, late and slow",
            frozenset({_K.CUT, _K.REFUSED, _K.LATE, _K.LOST_REPLY, _K.SLOW, _K.DEAF}),
        ),
        Profile(
            "database",
            "the database goes away or stands still",
            frozenset({_K.DOWN, _K.RESTART, _K.SLOW, _K.FREEZE, _K.EXHAUSTED}),
        ),
        Profile("clocks", "clocks are wrong and machines sleep", frozenset({_K.SKEW, _K.SUSPEND})),
    )
}


def draw(seed: int, *, hours: float, profile: str = "swarm") -> Scenario:
    """The world of a seed. Raises InvalidInput for a profile that does not exist."""
    if profile not in PROFILES:
        raise InvalidInput("profile", f"{profile!r} is not one of {', '.join(PROFILES)}.")
    chance = Chance(seed)
    seconds = hours * 3600
    healed_at = max(seconds - QUIET, seconds / 2)
    nodes = _draw_nodes(chance.fork("nodes"))
    workers = [one for one in nodes if one.role is Role.WORKER]
    slots = {queue: sum(one.slots for one in workers if queue in one.queues) for queue in QUEUES}
    jobs = draw_jobs(chance.fork("jobs"), seconds=healed_at, slots=slots)
    outage, kinds = chance.fork("outage"), PROFILES[profile].kinds
    has_outage = bool(kinds & {_K.DOWN}) and outage.random() < OUTAGE
    setting = chance.fork("setting")
    start = setting.choice(list(STARTS))
    jobs = (*jobs, *[BUSY][:has_outage], *_draw_clock_change(chance.fork("clock change"), start))
    lease = setting.choice((20.0, 20.0, 10.0, 30.0)) if not has_outage else LEASE_MAX
    poll, hints = setting.choice((1.0, 2.0, 5.0, 5.0, 5.0)), setting.random() < 0.8
    faults = (
        *_draw_faults(chance.fork("faults"), PROFILES[profile], nodes, until=healed_at, lease=lease),
        *([draw_outage(outage, until=healed_at)] if has_outage else []),
        *draw_standstills(chance.fork("standstills"), kinds, nodes, until=healed_at, lease=lease),
        *draw_unheard_fires(chance.fork("unheard fires"), kinds, nodes, until=healed_at),
    )
    clients = [one.name for one in nodes if one.role is Role.CLIENT]
    acts = draw_acts(chance.fork("acts"), jobs, clients, until=healed_at)
    scenario = Scenario(
        seed=seed,
        profile=profile,
        start=start,
        seconds=seconds,
        healed_at=healed_at,
        lease=lease,
        poll=poll if hints else min(poll, 2.0),
        hints=hints,
        nodes=nodes,
        # The last one is there for the change of clocks.
        jobs=(*draw_poison(chance.fork("poison"), until=healed_at), *jobs),
        acts=(*acts, *_acts_without_answer(chance.fork("acts without answer"), jobs, clients, acts, faults)),
        faults=faults,
    )
    return _with_flows(scenario, chance)


def _with_flows(scenario: Scenario, chance: Chance) -> Scenario:
    """The same world, with workflows beside its jobs."""
    flows = draw_flows(chance.fork("flows"))
    clients = [one.name for one in scenario.nodes if one.role is Role.CLIENT]
    acts = draw_flow_acts(chance.fork("flow acts"), flows, clients, until=scenario.healed_at)
    return replace(scenario, flows=flows, acts=(*scenario.acts, *acts))


def _draw_clock_change(chance: Random, start: datetime) -> tuple[JobSpec, ...]:
    change = STARTS[start]
    if change is None:
        return ()
    return (
        JobSpec(
            name="clock change",
            timezone=change[0],
            cron=change[1],
            gap=chance.choice(("shift", "skip")),
            fold=chance.choice(("first", "both")),
            misfire=chance.choice(("FIRE_NOW", "FIRE_ALL", "IGNORE", "RESCHEDULE")),
        ),
    )


def _acts_without_answer(
    chance: Random,
    jobs: Sequence[JobSpec],
    clients: Sequence[str],
    acts: Sequence[Act],
    faults: Sequence[Fault],
) -> tuple[Act, ...]:
    """While the answers to a client get lost, it asks for something."""
    lost = [one for one in faults if one.kind is _K.LOST_REPLY and one.target in clients]
    return tuple(
        Act(
            number=len(acts) + place,
            at=round(fault.at + fault.seconds / 2, 3),
            client=fault.target,
            verb=Verb.ENQUEUE,
            job=chance.choice(jobs).name,
        )
        for place, fault in enumerate(lost)
    )


def _draw_nodes(chance: Random) -> tuple[NodeSpec, ...]:
    latency = chance.choice((0.0005, 0.002, 0.01, 0.05))
    counts = {
        Role.SCHEDULER: chance.choice((1, 2, 2, 3)),
        Role.WORKER: chance.choice((2, 3, 3, 4)),
        Role.CLIENT: chance.choice((1, 2)),
    }
    return tuple(
        NodeSpec(
            name=f"{role[0]}{number}",
            role=role,
            latency=round(latency * chance.uniform(0.5, 2), 6),
            skew=chance.choice((0.0, 0.0, -3600.0, 30.0, 86400.0)),
            drift=round(chance.uniform(-1e-4, 1e-4), 7),
            slots=chance.choice((2, 4, 8)),
            queues=("default", "slow") if number == 1 or chance.random() < 0.7 else ("default",),
            drain=chance.choice((5.0, 25.0)),
        )
        for role, count in counts.items()
        for number in range(1, count + 1)
    )


def _draw_faults(
    chance: Random, profile: Profile, nodes: tuple[NodeSpec, ...], *, until: float, lease: float
) -> tuple[Fault, ...]:
    kinds = [kind for kind in FaultKind if kind in profile.kinds - STANDSTILLS]
    if not profile.all_kinds:
        kinds = [kind for kind in kinds if chance.random() < KIND_EXISTS] or kinds[:1]
    if not kinds:
        return ()
    per_hour = chance.uniform(*profile.per_hour)
    ends = until / 2 if chance.random() < CALM_SECOND_HALF else until
    faults: list[Fault] = []
    at = 30.0
    while (at := at + chance.expovariate(per_hour / 3600)) < ends:
        if chance.random() < 0.02:
            per_hour = chance.uniform(*profile.per_hour)  # Rates change over time.
        faults += _draw_fault(chance, kinds, nodes, at=round(at, 3), lease=lease, number=len(faults))
    return tuple(faults)


def _draw_fault(
    chance: Random,
    kinds: list[FaultKind],
    nodes: tuple[NodeSpec, ...],
    *,
    at: float,
    lease: float,
    number: int,
) -> list[Fault]:
    kind = chance.choice(kinds)
    # Of what is short there is more; some outlast a lease by far.
    seconds = round(chance.choice((0.5, 3.0, lease, 3 * lease)) * chance.uniform(0.2, 1.3) + 0.1, 3)
    if kind in _STORE_FAULTS and (kind not in _NODE_FAULTS or chance.random() < 0.3):
        if kind is FaultKind.RESTART:
            seconds = round(chance.uniform(0.5, 15), 3)
        amount = _amount(chance, kind)
        return [Fault(number=number, kind=kind, at=at, seconds=seconds, amount=amount)]
    if kind is FaultKind.CUT and chance.random() < SWIZZLE:
        return _swizzle(chance, nodes, at=at, number=number, lease=lease)
    hit = Role.WORKER if chance.random() < HITS_A_WORKER else None
    if kind is FaultKind.LOST_REPLY:
        hit = chance.choice(list(Role))  # Each loses answers of its own kind.
    target = chance.choice([node for node in nodes if hit in (None, node.role)]).name
    return [
        Fault(number=number, kind=kind, at=at, seconds=seconds, target=target, amount=_amount(chance, kind))
    ]


def _amount(chance: Random, kind: FaultKind) -> float:
    match kind:
        case FaultKind.REFUSED | FaultKind.LATE | FaultKind.LOST_REPLY:
            return chance.choice((0.1, 0.3, 1.0))
        case FaultKind.SLOW:
            return chance.choice((10.0, 100.0))
        case FaultKind.SKEW:
            return chance.choice((-3600.0, -30.0, 30.0, 3600.0))
        case _:
            return 0.0


def _swizzle(
    chance: Random, nodes: tuple[NodeSpec, ...], *, at: float, number: int, lease: float
) -> list[Fault]:
    """Cut off some nodes one by one, and mend them in another order."""
    some = chance.sample(nodes, chance.randint(2, len(nodes)))
    begins = sorted(at + chance.uniform(0, lease / 2) for _ in some)
    healing = at + lease / 2
    return [
        Fault(
            number=number + place,
            kind=FaultKind.CUT,
            at=round(begin, 3),
            seconds=round(healing - begin + chance.uniform(0.1, 2 * lease), 3),
            target=node.name,
        )
        for place, (node, begin) in enumerate(zip(some, begins, strict=True))
    ]
