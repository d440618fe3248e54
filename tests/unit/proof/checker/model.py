"""A tiny model of Gnomon that writes histories in which nothing is wrong, with faults in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import cast

from proof.checker.history.events import (
    AnyEvent,
    Beat,
    Cancelled,
    CancelOk,
    Claim,
    Dead,
    Done,
    Effect,
    Enqueue,
    Event,
    Exit,
    Expect,
    Expired,
    Failed,
    FaultBegin,
    FaultEnd,
    Fire,
    Kept,
    Read,
    Refused,
    Released,
    SchedSet,
    Skip,
    Start,
    SubmitInvoke,
    SubmitOk,
    Told,
)

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
LEASE, BEAT = 20.0, 6.0
ATTEMPTS, BACKOFF = 3, 5.0
OUTCOMES = ["done"] * 12 + ["failed", "released", "cancelled", "killed", "paused"]
WORKERS = 4


@dataclass
class Model:
    """Runs live side by side and do not meet: each is told to its end, then all of it is put in order."""

    random: Random
    told: list[tuple[float, str, type[Event], dict[str, object]]] = field(default_factory=list)
    runs: list[tuple[str, str | None]] = field(default_factory=list)
    faults: int = 0

    def store(self, at: float, kind: type[Event], /, **fields: object) -> None:
        self.told.append((at, "store", kind, {"db": when(at), **fields}))

    def process(self, src: str, at: float, kind: type[Event], /, **fields: object) -> None:
        self.told.append((at, src, kind, {"wall": when(at), "mono": at, **fields}))

    def job(self, name: str, *, every: float | None, fires: int, asked: int) -> None:
        """A job with so many due times, and so many runs that clients ask for."""
        end = None if every is None else when((fires + 0.5) * every)
        self.process("nemesis", 0, Expect, job=name, effect="fenced", run_max=70.0)
        self.store(
            0, SchedSet, job=name, rev=1, every=every, anchor=NOON if every else None, end_at=end,
            max_attempts=ATTEMPTS, backoff="fixed", backoff_base=BACKOFF, kind=name, closed=(),
            misfire="IGNORE",
        )  # fmt: skip
        for number in range(1, fires + 1) if every else ():
            self._fire(name, number * cast("float", every), f"{name}-{number}")
        for number in range(asked):
            self._ask(name, 10 + number * 3.0, f"{name}-asked-{number}")

    def _fire(self, job: str, due: float, run: str) -> None:
        if self.random.random() < 0.05:
            late = 61 + self.random.random()
            self.process("nemesis", due, FaultBegin, kind="stop", target="s/1")
            self.process("nemesis", due + late, FaultEnd, kind="stop", target="s/1")
            self.store(due + late, Skip, job=job, due=when(due), why="misfire", late=late, rev=1)
            return
        late = self.random.random()
        self.store(due + late, Fire, job=job, rev=1, due=when(due), run=run, late=late)
        self._live(run, due + late, v=1, key=None)

    def _ask(self, job: str, at: float, run: str) -> None:
        self.process("client", at - 0.1, SubmitInvoke, key=f"k-{run}", job=job, body="b")
        self.store(at, Enqueue, job=job, rev=1, run=run, key=f"k-{run}")
        self.process("client", at + 0.1, SubmitOk, key=f"k-{run}", job=job, run=run, body="b")
        self._live(run, at, v=1, key=f"k-{run}")

    def _live(self, run: str, at: float, *, v: int, key: str | None) -> None:
        """From its birth to its end, attempt by attempt."""
        self.runs.append((run, key))
        attempt, token, crashes = 1, 0, 0
        while True:
            token += 1
            outcome = self.random.choice(OUTCOMES)
            worker = f"w{self.random.randrange(WORKERS)}"
            if outcome in ("killed", "paused"):
                self.faults += 1
                worker = f"x{self.faults}"  # One that nobody else needs.
            one = _Attempt(self, run, token, attempt, f"{worker}/1", at + 0.2, v + 1)
            at, v, goes_on, is_charged, crashed = one.live(outcome, crashes)
            crashes = crashes + 1 if crashed else 0
            attempt += is_charged
            if not goes_on:
                return

    def events(self, *, read_at: float | None = None) -> list[AnyEvent]:
        end = read_at or max(at for at, *_ in self.told) + 1000
        for run, key in self.runs:
            self.process("reader", end, Kept, run=run, key=key)
        self.process("reader", end, Read, kept=len(self.runs))
        return numbered(
            kind(src=src, n=0, **fields)  # type: ignore[arg-type]
            for _, src, kind, fields in sorted(self.told, key=lambda one: one[0])
        )


@dataclass
class _Attempt:
    model: Model
    run: str
    token: int
    attempt: int
    worker: str
    at: float
    v: int

    def store(self, at: float, kind: type[Event], /, **fields: object) -> None:
        self.model.store(at, kind, run=self.run, v=self.v, **fields)
        self.v += 1

    def live(self, outcome: str, crashes: int) -> tuple[float, int, bool, bool, bool]:
        """Returns when it was over, the version then, whether it goes on, was charged, and crashed."""
        name, _, boot = self.worker.partition("/")
        lasts = self.model.random.choice([1.0, 3.0, 9.0, 65.0])
        self.store(
            self.at, Claim, attempt=self.attempt, token=self.token, worker=name, boot=int(boot),
            req=f"q-{self.run}-{self.token}", lease_until=when(self.at + LEASE),
        )  # fmt: skip
        self._see(self.at, Start)
        if outcome in ("killed", "paused"):
            return self._crash(outcome, crashes)
        until = self.at + lasts
        for beat in _beats(self.at, until):
            self.store(beat, Beat, token=self.token, lease_until=when(beat + LEASE))
        self._see(until, Exit)
        return self._end(until, outcome)

    def _end(self, at: float, outcome: str) -> tuple[float, int, bool, bool, bool]:
        token = self.token
        match outcome:
            case "failed" if self.attempt < ATTEMPTS:
                due = at + BACKOFF * (0.95 + self.model.random.random() / 10)
                self.store(at, Failed, token=token, next_at=when(due), kind="ValueError")
                return due, self.v - 1, True, True, False
            case "failed":
                self.store(at, Dead, token=token, why="exhausted")
            case "released":
                self.store(at, Released, token=token, next_at=when(at))
                return at, self.v - 1, True, False, False
            case "cancelled":
                self.store(at, CancelOk)
                self.model.process(self.worker, at + 1, Told, run=self.run, token=token)
                self.store(at + 2, Cancelled, token=token)
            case _:
                self.model.process("sink", at, Effect, run=self.run, token=token, attempt=self.attempt)
                self.store(at, Done, token=token)
        return at, self.v - 1, False, True, False

    def _crash(self, how: str, crashes: int) -> tuple[float, int, bool, bool, bool]:
        over, token = self.at + LEASE + 1, self.token
        kind = "kill" if how == "killed" else "pause"
        self.model.process("nemesis", self.at + 0.1, FaultBegin, kind=kind, target=self.worker)
        if how == "paused":
            self.model.process("nemesis", over + 30, FaultEnd, kind=kind, target=self.worker)
            self._see(over + 31, Exit)
            refused = {"run": self.run, "token": token, "op": "complete"}
            self.model.store(over + 31, Refused, **refused)
        if self.attempt == ATTEMPTS:
            why = "crash_loop" if crashes == 2 else "exhausted"
            self.store(over, Dead, token=token, why=why, kind="lease_expired")
            return over, self.v - 1, False, True, True
        self.store(over, Expired, token=token, next_at=when(over), kind="lease_expired")
        return over, self.v - 1, True, True, True

    def _see(self, at: float, kind: type[Event]) -> None:
        fields = {"run": self.run, "attempt": self.attempt, "token": self.token}
        self.model.process(self.worker, at, kind, **fields)


def when(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def numbered(events: Iterable[Event]) -> list[AnyEvent]:
    """The events with new numbers, so that only what is missing in the story is missing."""
    counts: Counter[str] = Counter()
    found = []
    for event in events:
        counts[event.src] += 1
        found.append(with_fields(event, n=counts[event.src]))
    return cast("list[AnyEvent]", found)


def with_fields(event: Event, **fields: object) -> Event:
    known = {name: getattr(event, name) for name in event.__struct_fields__}
    return type(event)(**{**known, **fields})


def _beats(since: float, until: float) -> Iterator[float]:
    while (since := since + BEAT) < until:
        yield since


def small_history(seed: int) -> list[AnyEvent]:
    model = Model(Random(seed))
    model.job("a", every=200.0, fires=6, asked=3)
    model.job("b", every=None, fires=0, asked=6)
    return model.events()


def large_history(events: int, seed: int = 7) -> list[AnyEvent]:
    """About so many events."""
    model, number = Model(Random(seed)), 0
    while len(model.told) < events:
        number += 1
        model.job(f"job-{number:05}", every=100.0, fires=200, asked=200)
    return model.events()
