"""Cron against cronsim and croniter, in one run.

Each round measures all three, one after the other, and the median of the rounds counts: a noisy machine
disturbs them alike. Peers get their start time in the zone and may answer in it; Gnomon converts from UTC
and to UTC inside the measured call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import cycle, islice
from statistics import median
from time import perf_counter

from croniter import croniter
from cronsim import CronSim

from benchmarks import Report
from gnomon.core.time import dst, zones
from gnomon.core.time.cron import parse
from gnomon.core.time.dst import CronTimes, times

ROUNDS = 15
# Minute and hour make the expressions of a round distinct, in pairs with the zone; Gnomon's cache of
# schedules is emptied before each round, and it has no other that knows expressions or fields.
KINDS = {
    "daily": "{minute} {hour} * * *",
    "hourly": "{minute} * * * *",
    "every quarter": "{minute}-59/15 * * * *",
    "working hours": "{minute},59 {hour}-23 * * MON-FRI",
    "weekly": "{minute} {hour} * * SUN",
    "twice a month": "{minute} {hour} 1,15 * *",
    "quarterly": "{minute} {hour} 1 JAN,APR,JUL,OCT *",
    "the 13th or a Friday": "{minute} {hour} 13 * FRI",
    "last day": "{minute} {hour} L * *",
    "first Monday": "{minute} {hour} * * MON#1",
}
SHARED = ["0 9 * * *", "*/15 * * * *", "30 8 * * MON-FRI", "0 0 1 * *", "0 * * * *"]
SPARSE = ["0 0 29 2 *", "0 0 31 12 *", "0 0 * 2 MON#5", "0 0 L 2 *", "59 23 31 1,12 *"]
PLAIN = "0 9 * * *"
ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Tokyo", "Australia/Sydney"]
START = datetime(2026, 2, 27, 12, 3, 20, tzinfo=UTC)
EXPRESSIONS_PER_ROUND = 100
CALLS_PER_ROUND = 2_000

GOALS = {"first_next": {"cronsim": 1, "croniter": 3}, "shared_next": {"cronsim": 20, "croniter": 20}}
SPARSE_RATIO_MAX = 10

Measured = dict[str, float]
"""Seconds per call, by library."""


def run() -> Report:
    first = {kind: first_next(template) for kind, template in KINDS.items()}
    shared = {expression: shared_next(expression) for expression in SHARED}
    sparse = {expression: sparse_next(expression) for expression in SPARSE}
    numbers: dict[str, dict[str, object]] = {
        "first_next": summary(first),
        "shared_next": summary(shared),
        "sparse": {"worst_ratio": max(sparse.values()), "by_expression": sparse},
    }
    goals_met = max(sparse.values()) <= SPARSE_RATIO_MAX and all(
        ratio(first if part == "first_next" else shared, peer) >= goal
        for part, goals in GOALS.items()
        for peer, goal in goals.items()
    )
    table = "\n".join(
        [
            *rows("parse + first next, expressions never seen before", first),
            *rows("next of a schedule that many jobs share", shared),
            *sparse_rows(sparse),
            f"goals met: {'yes' if goals_met else 'no'}",
        ]
    )
    return Report(table, {**numbers, "goals_met": goals_met})


def first_next(template: str) -> Measured:
    """Parse an expression and find its first fire. No cache knows the expression; all know the zones."""
    distinct = distinct_expressions(template)
    taken: dict[str, list[float]] = {"gnomon": [], "cronsim": [], "croniter": []}
    for _ in range(ROUNDS):
        batch = [(e, z, START.astimezone(zones.zone(z))) for e, z in islice(distinct, EXPRESSIONS_PER_ROUND)]
        dst._shared.cache_clear()
        taken["gnomon"].append(seconds([partial(gnomon_first, e, z) for e, z, _ in batch]))
        taken["cronsim"].append(seconds([partial(cronsim_first, e, local) for e, _, local in batch]))
        taken["croniter"].append(seconds([partial(croniter_first, e, local) for e, _, local in batch]))
    return {library: median(samples) for library, samples in taken.items()}


def distinct_expressions(template: str) -> Iterator[tuple[str, str]]:
    zone_names = cycle(ZONES)
    for hour in cycle(range(23)):
        for minute in range(59):
            yield template.format(minute=minute, hour=hour), next(zone_names)


def gnomon_first(expression: str, zone_name: str) -> datetime | None:
    return times(expression, zone_name).next(START)


def cronsim_first(expression: str, local: datetime) -> datetime:
    return next(CronSim(expression, local))


def croniter_first(expression: str, local: datetime) -> datetime:
    following: datetime = croniter(expression, local).get_next(datetime)
    return following


def shared_next(expression: str) -> Measured:
    """The next fire for each of many jobs. Peers keep a parsed iterator, the cheapest way they offer.

    "Looked up" is Gnomon when the job holds only the text of its schedule.
    """
    zone_name = "America/New_York"
    local = START.astimezone(zones.zone(zone_name))
    # A hundred jobs ask at each fire, and some ask in between: about what is due, not about the last fire.
    moments: list[datetime] = []
    schedule, moment = times(expression, zone_name), START
    while len(moments) < CALLS_PER_ROUND:
        found = schedule.next(moment)
        assert found is not None
        moments += [moment] * 95 + [moment + (found - moment) * k / 5 for k in range(5)]
        moment = found
    taken: dict[str, list[float]] = {"gnomon": [], "cronsim": [], "croniter": [], "looked up": []}
    for _ in range(ROUNDS):
        taken["gnomon"].append(seconds_of_loop(schedule.next, moments))
        taken["looked up"].append(seconds([partial(gnomon_first, expression, zone_name)] * 200))
        sim, iterator = CronSim(expression, local), croniter(expression, local)
        taken["cronsim"].append(seconds([partial(next, sim)] * 50))
        taken["croniter"].append(seconds([partial(iterator.get_next, datetime)] * 50))
    return {library: median(samples) for library, samples in taken.items()}


def sparse_next(expression: str) -> float:
    """How much longer a sparse schedule takes than a plain one: the worse of cold and parsed."""
    cold, parsed = [], []
    sparse_times, plain_times = (CronTimes(parse(text), "America/New_York") for text in (expression, PLAIN))
    for _ in range(ROUNDS):
        # The two of a pair are measured within a millisecond or two: what disturbs one disturbs the other.
        pair = [seconds([partial(cold_next, text)] * 50) for text in (expression, PLAIN)]
        cold.append(pair[0] / pair[1])
        pair = [seconds([partial(parsed_next, schedule)] * 50) for schedule in (sparse_times, plain_times)]
        parsed.append(pair[0] / pair[1])
    return round(max(median(cold), median(parsed)), 1)


def cold_next(expression: str) -> datetime | None:
    return CronTimes(parse(expression), "America/New_York").next(START)


def parsed_next(schedule: CronTimes) -> datetime | None:
    """A search each time: the shared times of one call are taken away before the next."""
    schedule._known.run = dst._NOTHING_KNOWN
    return schedule.next(START)


def seconds(calls: list[Callable[[], object]]) -> float:
    started = perf_counter()
    for call in calls:
        call()
    return (perf_counter() - started) / len(calls)


def seconds_of_loop(ask: Callable[[datetime], object], moments: list[datetime]) -> float:
    started = perf_counter()
    for moment in moments:
        ask(moment)
    return (perf_counter() - started) / len(moments)


def ratio(measured: dict[str, Measured], peer: str) -> float:
    """How many times faster than the peer, over all expressions together."""
    return sum(m[peer] for m in measured.values()) / sum(m["gnomon"] for m in measured.values())


def summary(measured: dict[str, Measured]) -> dict[str, object]:
    return {
        "gnomon_per_s": round(len(measured) / sum(m["gnomon"] for m in measured.values())),
        "cronsim_ratio": round(ratio(measured, "cronsim"), 1),
        "croniter_ratio": round(ratio(measured, "croniter"), 1),
        "by_expression": {
            name: {library: round(taken * 1e6, 2) for library, taken in m.items()}
            for name, m in measured.items()
        },
    }


def rows(title: str, measured: dict[str, Measured]) -> Iterator[str]:
    libraries = next(iter(measured.values()))
    yield f"{title}\n  {'microseconds per call':24}" + "".join(f"{library:>10}" for library in libraries)
    for name, m in measured.items():
        yield f"  {name:24}" + "".join(f"{m[library] * 1e6:10.2f}" for library in libraries)
    ratios = f"{ratio(measured, 'cronsim'):9.1f}x{ratio(measured, 'croniter'):9.1f}x"
    yield f"  {'overall, times faster':24}{'':10}{ratios}\n"


def sparse_rows(sparse: dict[str, float]) -> Iterator[str]:
    yield f"sparse schedules, times slower than {PLAIN!r}"
    for expression, slower in sparse.items():
        yield f"  {expression:24}{slower:8.1f}x"
    yield ""
