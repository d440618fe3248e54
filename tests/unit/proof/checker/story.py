"""Histories written by hand: what matters is said, the rest fills itself in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar, cast

import msgspec

from proof.checker.history.events import (
    Abandoned,
    AnyEvent,
    Beat,
    Cancelled,
    Claim,
    Dead,
    Done,
    Effect,
    Enqueue,
    Event,
    Exit,
    Expired,
    Failed,
    FaultBegin,
    FaultEnd,
    Fire,
    Heal,
    Kept,
    OfRun,
    Read,
    Released,
    SchedSet,
    Skip,
    Start,
    SubmitInvoke,
    SubmitOk,
    Told,
    Up,
)
from proof.checker.judge import check
from proof.checker.verdict import Verdict

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
LEASE = 20
READ_AT = 5000

E = TypeVar("E", bound=Event)
Ends = type[Done | Failed | Cancelled | Expired | Released | Dead | Abandoned]


def t(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


class Story:
    """Events as they are told. Times are seconds after noon; sources and versions number themselves."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self._numbers: Counter[str] = Counter()
        self._versions: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._fields: dict[str, str | None] = {}
        self._gone: set[str] = set()

    # Anything ------------------------------------------------------------------------------------

    def store(self, at: float, kind: type[E], /, **fields: object) -> E:
        if issubclass(kind, OfRun):
            run = cast("str", fields["run"])
            self._versions[run] += 1
            fields = {"v": self._versions[run], **fields}
            if kind in (Fire, Enqueue):
                self._fields.setdefault(run, cast("str | None", fields.get("key")))
        return self._add(kind, "store", db=t(at), **fields)

    def process(self, src: str, at: float, kind: type[E], /, **fields: object) -> E:
        return self._add(kind, src, **{"wall": t(at), "mono": 1000.0 + at, **fields})

    def _add(self, kind: type[E], src: str, /, **fields: object) -> E:
        self._numbers[src] += 1
        event = kind(src=src, **{"n": self._numbers[src], **fields})  # type: ignore[arg-type]
        self.events.append(cast("AnyEvent", event))
        return event

    # Jobs ----------------------------------------------------------------------------------------

    def job(self, name: str = "j", at: float = 0, rev: int = 1, **fields: object) -> SchedSet:
        return self.store(at, SchedSet, job=name, rev=rev, **fields)

    def fire(self, at: float, due: float, run: str, **fields: object) -> Fire:
        fields = {"job": "j", "rev": 1, "late": at - due, **fields}
        return self.store(at, Fire, due=t(due), run=run, **fields)

    def skip(self, at: float, due: float, why: str, **fields: object) -> Skip:
        if isinstance(until := fields.pop("until", None), int):
            fields["until"] = t(until)
        return self.store(at, Skip, job="j", due=t(due), why=why, late=at - due, **fields)

    # Runs ----------------------------------------------------------------------------------------

    def enqueue(self, run: str = "r", at: float = 1, *, job: str = "j", **fields: object) -> Enqueue:
        return self.store(at, Enqueue, run=run, **{"job": job, "rev": 1, **fields})

    def claim(self, at: float, run: str = "r", *, worker: str = "w/1", **fields: object) -> Claim:
        name, _, boot = worker.partition("/")
        self._tokens[run] += 1
        token = self._tokens[run]
        fields = {"attempt": token, "token": token, "lease_until": t(at + LEASE), **fields}
        return self.store(at, Claim, run=run, worker=name, boot=int(boot), **fields)

    def start(self, at: float, run: str = "r", *, worker: str = "w/1", **fields: object) -> Start:
        token = self._tokens[run]
        return self.process(worker, at, Start, run=run, **{"attempt": token, "token": token, **fields})

    def exit(self, at: float, run: str = "r", *, worker: str = "w/1", **fields: object) -> Exit:
        token = self._tokens[run]
        return self.process(worker, at, Exit, run=run, **{"attempt": token, "token": token, **fields})

    def beat(self, at: float, run: str = "r", **fields: object) -> Beat:
        fields = {"token": self._tokens[run], "lease_until": t(at + LEASE), **fields}
        return self.store(at, Beat, run=run, **fields)

    def beats(self, since: float, until: float, run: str = "r") -> None:
        """As a healthy worker does it."""
        while (since := since + 6) < until:
            self.beat(since, run)

    def end(self, at: float, kind: type[Event] = Done, run: str = "r", /, **fields: object) -> Event:
        return self.store(at, kind, run=run, **{"token": self._tokens[run], **fields})

    def again(
        self, at: float, kind: type[Event], /, *, after: float = 0, run: str = "r", **fields: object
    ) -> Event:
        """An end that is none: the run waits again. Who wrote so itself has left its handler."""
        if kind in (Failed, Released):
            self._leave(at, run)
        return self.end(at, kind, run, **{"next_at": t(at + after), **fields})

    def _leave(self, at: float, run: str) -> None:
        attempts = [one for one in self.events if isinstance(one, Start | Exit | Told) and one.run == run]
        if attempts and isinstance(attempts[-1], Start):
            self.exit(at, run, worker=attempts[-1].src, token=attempts[-1].token)

    def live(self, run: str = "r", at: float = 2, until: float | None = None, *, worker: str = "w/1") -> None:
        """Claimed, started, done."""
        until = at + 2 if until is None else until
        self.claim(at, run, worker=worker)
        self.start(at, run, worker=worker)
        self.beats(at, until, run)
        self.exit(until, run, worker=worker)
        self.end(until, Done, run)

    def effect(self, at: float, run: str = "r", **fields: object) -> Effect:
        return self.process("sink", at, Effect, run=run, **{"token": self._tokens[run], **fields})

    # Clients and campaign ------------------------------------------------------------------------

    def submit(self, at: float, key: str, run: str, **fields: object) -> None:
        fields = {"body": "b", **fields}
        self.process("client", at, SubmitInvoke, key=key, job="j", **fields)
        self.process("client", at + 0.1, SubmitOk, key=key, job="j", run=run, **fields)

    def up(self, src: str = "w/1", role: str = "worker", at: float = 0, **fields: object) -> Up:
        return self.process(src, at, Up, role=role, **({"slots": 4} | fields))

    def fault(self, begin: float, end: float | None, kind: str, target: str, **fields: object) -> None:
        self.process("nemesis", begin, FaultBegin, kind=kind, target=target, **fields)
        if end is not None:
            self.process("nemesis", end, FaultEnd, kind=kind, target=target)

    def heal(self, at: float) -> None:
        self.process("nemesis", at, Heal)

    def forget(self, run: str) -> None:
        """The final read will not find it."""
        self._gone.add(run)

    def read(self, at: float = READ_AT) -> None:
        rows = [(run, key) for run, key in self._fields.items() if run not in self._gone]
        for run, key in rows:
            self.process("reader", at, Kept, run=run, key=key)
        self.process("reader", at, Read, kept=len(rows))


Case = Callable[[Story, bool], None]
CASES: dict[str, list[Case]] = {}


def case(invariant: str) -> Callable[[Case], Case]:
    """A story of which one sentence may be wrong. Then the invariant is broken; else, none is."""

    def keep(told: Case) -> Case:
        CASES.setdefault(invariant, []).append(told)
        return told

    return keep


def verdict_of(events: list[AnyEvent]) -> Verdict:
    # Through the text and back, as it comes from a file.
    decoder = msgspec.json.Decoder(AnyEvent)
    return check([decoder.decode(msgspec.json.encode(event)) for event in events], coverage_min=0)


def broken(events: list[AnyEvent]) -> set[str]:
    return {told.violation.invariant for told in verdict_of(events).told}
