"""D: a leader acts under the latest term, and stops believing in time."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from itertools import pairwise

from proof.checker.faults import merged
from proof.checker.history.events import Act, ActBegin, Elect, ElectInfo, Event, Lead
from proof.checker.index import Index
from proof.checker.verdict import Findings

ABSENCE_MAX = timedelta(seconds=15)
PRESENCE_MIN = 0.99


def d1(index: Index) -> Findings:
    """What only a leader may write is accepted only under the latest term."""
    found = Findings("D1")
    for scope, events in _by_scope(index).items():
        latest: Elect | None = None
        for event in events:
            if isinstance(event, Elect):
                latest = event
            elif isinstance(event, Act):
                found.checked += 1
                if latest is None or (event.who, event.term) != (latest.who, latest.term):
                    now = f"{latest.who} leads in term {latest.term}" if latest else "nobody leads"
                    found.add(
                        f"scope {scope}", f"{event.who} acted in term {event.term}, while {now}.", event
                    )
    return found


def d2(index: Index) -> Findings:
    """Terms only grow, and a term has one leader."""
    found = Findings("D2")
    for scope, events in _by_scope(index).items():
        before: Elect | None = None
        for event in events:
            if not isinstance(event, Elect):
                continue
            found.checked += 1
            is_renewal = before is not None and (event.who, event.term) == (before.who, before.term)
            if before is not None and not is_renewal and event.term <= before.term:
                found.add(f"scope {scope}", f"term {event.term} came after term {before.term}.", event)
            before = event
    return found


def d3(index: Index) -> Findings:
    """While all is healthy, somebody leads nearly always."""
    found = Findings("D3")
    for scope, events in _by_scope(index).items():
        elects = [event for event in events if isinstance(event, Elect) and event.db is not None]
        if not elects or index.read_at is None:
            continue
        led = merged((event.db, event.expires) for event in elects if event.db is not None)
        gaps = [(end, begin) for (_, end), (begin, _) in pairwise(led)]
        if led[-1][1] < index.read_at:
            gaps.append((led[-1][1], index.read_at))
        healthy = [gap for gap in gaps if index.faults.is_all_healthy(*gap)]
        found.checked += 1
        absent = sum(((end - begin) for begin, end in healthy), timedelta(0))
        longest = max((end - begin for begin, end in healthy), default=timedelta(0))
        whole = index.read_at - led[0][0]
        if longest > ABSENCE_MAX:
            found.add(f"scope {scope}", f"nobody led for {longest.total_seconds():.1f} s.", elects[-1])
        elif absent > whole * (1 - PRESENCE_MIN):
            found.add(f"scope {scope}", f"nobody led for {absent / whole:.1%} of the time.", elects[-1])
    return found


def d4(index: Index) -> Findings:
    """A process acts as a leader only until its own monotonic clock says that its lease may be over."""
    found = Findings("D4")
    beliefs: dict[tuple[str, str], Lead] = {}
    for event in _of_processes(index):
        if isinstance(event, Lead):
            beliefs[event.src, event.scope] = event
        elif isinstance(event, ActBegin) and event.mono is not None:
            belief = beliefs.get((event.src, event.scope))
            found.checked += 1
            if belief is None or belief.term != event.term or event.mono > belief.until:
                found.add(f"source {event.src}", "it acted without reason to believe that it leads.", event)
    return found


def d5(index: Index) -> Findings:
    """Who got an error or no answer from an election does not believe that it leads."""
    found = Findings("D5")
    doubts: dict[tuple[str, str], bool] = {}
    for event in _of_processes(index):
        match event:
            case ElectInfo():
                doubts[event.src, event.scope] = True
            case Lead():
                doubts[event.src, event.scope] = False
            case ActBegin():
                found.checked += 1
                if doubts.get((event.src, event.scope)):
                    found.add(f"source {event.src}", "it acted after an election that failed.", event)
            case _:
                pass
    return found


def _by_scope(index: Index) -> dict[str, list[Elect | Act]]:
    """What the store accepted about each lease on leadership, in order."""
    found: dict[str, list[Elect | Act]] = defaultdict(list)
    for event in (*index.of(Elect), *index.of(Act)):
        assert isinstance(event, Elect | Act)
        found[event.scope].append(event)
    for events in found.values():
        events.sort(key=_order)
    return found


def _order(event: Elect | Act) -> tuple[bool, datetime | int, int]:
    # The store numbers its events in the order in which the row of the lease changed.
    return (event.db is not None, event.db or 0, event.n)


def _of_processes(index: Index) -> list[Event]:
    events: list[Event] = [*index.of(Lead), *index.of(ElectInfo), *index.of(ActBegin)]
    return sorted(events, key=lambda event: (event.src, event.n))
