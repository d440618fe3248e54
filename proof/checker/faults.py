"""When something was broken, and when a process could be expected to work."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from proof.checker.history.events import AnyEvent, Claim, Down, Event, FaultBegin, FaultEnd, Heal, Up

FOREVER = datetime(9000, 1, 1, tzinfo=UTC)  # With room to add to it.
DATABASE = "db"
EVERYTHING = "*"
SCHEDULING = "schedulers"  # Everything but the workers: who fires, and who takes back.
# Of these a process does not come back; its next boot is another source.
FINAL = frozenset({"kill"})
DRAIN = "term"
PAUSE = "pause"
LOST_REPLY = "lost_reply"
DISK_FULL = "disk_full"
CLOCK = "skew"
# While these last, the database answers nobody, or a process cannot ask it. Nothing else is wrong.
OUTAGES = frozenset(
    {
        *("down", "restart", "freeze", "pool_exhausted"),
        *("restart_fast", "restart_immediate", "terminate_backends", "idle_connections"),
    }
)

Span = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    target: str
    begin: datetime
    end: datetime
    op: str | None
    begun: FaultBegin

    @property
    def end_for_others(self) -> datetime:
        """Who was killed and never started again is missed only until others have taken over."""
        return self.begin if self.kind in FINAL and self.end == FOREVER else self.end

    def end_for(self, first_seen: datetime | None) -> datetime:
        is_final = self.kind in FINAL and first_seen is not None and first_seen <= self.begin
        return FOREVER if is_final else self.end


@dataclass(slots=True)
class Faults:
    """All faults, and for each source the spans in which it was not healthy: each fault, and R after it."""

    all: list[Fault]
    recovery: timedelta
    first_seen: dict[str, datetime]
    downs: dict[str, datetime]
    # As faults name them: all boots of one, and single boots.
    workers: set[str]
    schedulers: set[str]
    _on: dict[str, list[Fault]] = field(default_factory=lambda: defaultdict(list))
    _unhealthy: dict[str, list[Span]] = field(default_factory=dict)
    _sick: dict[str, list[Span]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for fault in self.all:
            self._on[fault.target].append(fault)

    def on(self, source: str) -> list[Fault]:
        """The faults that touch a process, or what no process can do without."""
        if source == EVERYTHING:
            return self.all
        if source == SCHEDULING:
            return [fault for fault in self.all if fault.target not in self.workers]
        names = {source, source.rpartition("/")[0], DATABASE, EVERYTHING}
        if source in self.schedulers:
            names.add(SCHEDULING)
        return [fault for name in names for fault in self._on.get(name, ())]

    def is_healthy(self, source: str, since: datetime, until: datetime) -> bool:
        """Whether no fault touched the process, or the database, or was still being recovered from."""
        spans = self._unhealthy.get(source)
        if spans is None:
            spans = self._unhealthy[source] = self._spans(source, self.on(source))
        return _is_clear(spans, since, until)

    def is_well(self, source: str, since: datetime, until: datetime) -> bool:
        """The same, and outages do not count: all that was wrong is that the database did not answer."""
        spans = self._sick.get(source)
        if spans is None:
            faults = [fault for fault in self.on(source) if fault.kind not in OUTAGES]
            spans = self._sick[source] = self._spans(source, faults)
        return _is_clear(spans, since, until)

    def is_all_healthy(self, since: datetime, until: datetime) -> bool:
        """The same for everything that any fault ever touched."""
        return self.is_healthy(EVERYTHING, since, until)

    def recovered(self, source: str, instant: datetime) -> datetime:
        """When it was healthy again; the instant itself if it was."""
        if self.is_healthy(source, instant, instant):
            return instant
        spans = self._unhealthy[source]
        return spans[bisect_right(spans, (instant, FOREVER)) - 1][1]

    def killed(self, source: str, since: datetime) -> datetime:
        """When a process was killed after an instant, or ended by itself; for ever if it was not."""
        kills = [one.begin for one in self.on(source) if one.kind in FINAL]
        ends = [*kills, self.downs.get(source, FOREVER)]
        return min((end for end in ends if end >= since), default=FOREVER)

    def gone(self, source: str, by: datetime) -> bool:
        """Whether a process had ended, or was asked to, before an instant."""
        is_leaving = any(one.kind == DRAIN and one.begin <= by for one in self.on(source))
        return is_leaving or self.killed(source, self.first_seen.get(source, by)) <= by

    def open_on(self, source: str, since: datetime, until: datetime) -> bool:
        """Whether a fault that touches the process overlaps the span, without the time to recover."""
        return any(
            fault.begin <= until and fault.end_for(self.first_seen.get(source)) >= since
            for fault in self.on(source)
        )

    def outage(self, since: datetime, until: datetime) -> timedelta:
        """For how long of a span something was wrong with the database: nobody can do anything then."""
        spans = merged((fault.begin, fault.end) for fault in self._on.get(DATABASE, ()))
        cut = [(max(begin, since), min(end, until)) for begin, end in spans]
        return sum((end - begin for begin, end in cut if begin < end), timedelta())

    def _spans(self, source: str, faults: list[Fault]) -> list[Span]:
        seen = self.first_seen.get(source)
        if source in (EVERYTHING, SCHEDULING):
            spans = [(fault.begin, fault.end_for_others) for fault in faults]
        else:
            spans = [(fault.begin, fault.end_for(seen)) for fault in faults]
        if source in self.downs:
            spans.append((self.downs[source], FOREVER))
        return merged((begin, _later(end, self.recovery)) for begin, end in spans)


def faults_of(events: Iterable[AnyEvent], *, recovery: timedelta) -> Faults:
    """A fault lasts until its end, or until `heal`, or for ever."""
    found: list[Fault] = []
    first_seen: dict[str, datetime] = {}
    downs: dict[str, datetime] = {}
    of_role: dict[str, set[str]] = defaultdict(set)
    for event in events:
        when = event.when
        if when is None:
            continue
        if "/" in event.src and event.src not in first_seen:
            first_seen[event.src] = when
        if isinstance(event, Down):
            downs[event.src] = when
        elif isinstance(event, Claim):
            of_role["worker"] |= {event.worker, event.holder}
        elif isinstance(event, Up):
            of_role[event.role] |= {event.src, event.src.rpartition("/")[0]}
    begins, ends, heals = _split(events)
    for begin in begins:
        assert begin.when is not None
        same = ends[begin.fault or (begin.kind, begin.target)]
        over = [end for end in (*same, *heals) if end >= begin.when]
        found.append(Fault(begin.kind, begin.target, begin.when, min(over, default=FOREVER), begin.op, begin))
    found.sort(key=lambda fault: fault.begin)
    return Faults(found, recovery, first_seen, downs, of_role["worker"], of_role["scheduler"])


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same instants in the fewest spans, in order."""
    whole: list[Span] = []
    for begin, end in sorted(spans):
        if whole and begin <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
        else:
            whole.append((begin, end))
    return whole


def _split(
    events: Iterable[Event],
) -> tuple[list[FaultBegin], dict[object, list[datetime]], list[datetime]]:
    begins: list[FaultBegin] = []
    ends: dict[object, list[datetime]] = defaultdict(list)
    heals: list[datetime] = []
    for event in events:
        match event:
            case FaultBegin(wall=datetime()):
                begins.append(event)
            case FaultEnd(wall=datetime() as wall):
                ends[event.fault or (event.kind, event.target)].append(wall)
            case Heal(wall=datetime() as wall):
                heals.append(wall)
            case _:
                pass
    return begins, ends, heals


def _is_clear(spans: list[Span], since: datetime, until: datetime) -> bool:
    place = bisect_right(spans, (until, FOREVER))
    return place == 0 or spans[place - 1][1] < since


def _later(instant: datetime, by: timedelta) -> datetime:
    return instant if instant == FOREVER else instant + by
