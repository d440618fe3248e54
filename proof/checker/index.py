"""A history, sorted so that each invariant finds what it needs: by run, by job, by process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar, cast

from proof.checker.calendar.ledger import FIRST, Ledger, ledger_of
from proof.checker.faults import SCHEDULING, Faults, faults_of
from proof.checker.history.events import (
    AnyEvent,
    BeatRefused,
    CancelOk,
    Claim,
    DagAct,
    DagAgain,
    DagEdge,
    DagEnd,
    DagNew,
    DagNode,
    DagRelease,
    DagStart,
    Deleted,
    Effect,
    Enqueue,
    Event,
    Exit,
    Fire,
    Kept,
    OfRun,
    Read,
    Refused,
    SchedSet,
    Skip,
    Start,
    StoreRun,
    Told,
    Up,
)
from proof.checker.history.events import Beat as BeatEvent
from proof.checker.history.events import Change as ChangeEvent
from proof.checker.parameters import Parameters, parameters_of
from proof.checker.runs import Run, Segment
from proof.checker.workflows.dags import DagRun, Key, Plan, dags_of, plans_of
from proof.checker.workflows.replay import Replay

SCHEDULER = "scheduler"
E = TypeVar("E", bound=Event)


@dataclass(slots=True)
class Index:
    events: Sequence[AnyEvent]
    parameters: Parameters
    faults: Faults
    runs: dict[str, Run] = field(default_factory=dict)
    specs: dict[str, list[SchedSet]] = field(default_factory=dict)
    fires: dict[str, list[Fire]] = field(default_factory=dict)
    skips: dict[str, list[Skip]] = field(default_factory=dict)
    ledgers: dict[str, Ledger] = field(default_factory=dict)
    runs_of: dict[str, list[Run]] = field(default_factory=dict)
    refused: dict[str, list[Refused | BeatRefused]] = field(default_factory=dict)
    effects: dict[str, list[Effect]] = field(default_factory=dict)
    tolds: dict[str, list[Told]] = field(default_factory=dict)
    kept: list[Kept] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)
    reads: list[Read] = field(default_factory=list)
    plans: dict[Key, Plan] = field(default_factory=dict)
    dags: dict[str, DagRun] = field(default_factory=dict)
    replays: dict[str, Replay] = field(default_factory=dict)  # Of runs whose definition is known.
    _by_type: dict[type[Event], list[AnyEvent]] = field(default_factory=dict)

    @property
    def read_at(self) -> datetime | None:
        return self.reads[-1].when if self.reads else None

    def of(self, kind: type[E]) -> list[E]:
        """All events of one kind, in the order of the files."""
        return cast("list[E]", self._by_type.get(kind, []))

    def spec_of(self, job: str, rev: int) -> SchedSet | None:
        return next((spec for spec in self.specs.get(job, ()) if spec.rev == rev), None)

    def is_scheduled(self, since: datetime, until: datetime) -> bool:
        """Whether one scheduler was well all the time, which needs no other; or all that is no worker."""
        begun = since - self.parameters.recovered_after
        schedulers = [up for up in self.of(Up) if up.role == SCHEDULER]
        return any(
            up.when is not None and up.when <= begun and self.faults.is_healthy(up.src, since, until)
            for up in schedulers
        ) or self.faults.is_healthy(SCHEDULING, since, until)

    def segments(self) -> Iterator[tuple[Run, Segment]]:
        for run in self.runs.values():
            for segment in run.segments:
                yield run, segment


def index_of(events: Sequence[AnyEvent], parameters: Parameters | None = None) -> Index:
    known = parameters_of(events, parameters)
    index = Index(events, known, faults_of(events, recovery=known.recovered_after))
    by_type: dict[type[Event], list[AnyEvent]] = defaultdict(list)
    for event in events:
        by_type[type(event)].append(event)
    index._by_type = dict(by_type)
    index.kept = index.of(Kept)
    index.reads = index.of(Read)
    index.deleted = {event.run for event in index.of(Deleted)}
    _index_jobs(index)
    _index_runs(index)
    _index_dags(index)
    return index


def _index_jobs(index: Index) -> None:
    for spec in index.of(SchedSet):
        index.specs.setdefault(spec.job, []).append(spec)
    for specs in index.specs.values():
        specs.sort(key=lambda spec: (spec.rev, _order(spec)))
    for fire in index.of(Fire):
        index.fires.setdefault(fire.job, []).append(fire)
    for skip in index.of(Skip):
        index.skips.setdefault(skip.job, []).append(skip)
    horizon = index.read_at or max((event.when for event in index.events if event.when), default=FIRST)
    for job in index.specs.keys() | index.fires.keys() | index.skips.keys():
        index.ledgers[job] = ledger_of(
            job,
            index.specs.get(job, []),
            index.fires.get(job, []),
            index.skips.get(job, []),
            horizon=horizon,
        )


def _index_dags(index: Index) -> None:
    index.plans = plans_of(index.of(DagNew), index.of(DagEdge))
    index.dags = dags_of([*index.of(DagNode), *index.of(DagAct)], index.runs, index.plans)
    for dag in index.dags.values():
        if dag.plan is not None:
            index.replays[dag.id] = Replay(dag, dag.plan, index.parameters.clock).run()


def _index_runs(index: Index) -> None:
    runs = index.runs
    for event in index.events:
        name = getattr(event, "run", None)
        if name is None:
            continue
        run = runs.get(name)
        if run is None:
            run = runs[name] = Run(name)
        if isinstance(event, OfRun):
            run.rows.append(event)
        elif isinstance(event, Start):
            run.starts.append(event)
        elif isinstance(event, Exit):
            run.exits.append(event)
        else:
            _index_rest(index, event)
    for run in runs.values():
        _sort_rows(run)
        if run.births:
            birth = run.births[0]
            run.spec = index.spec_of(birth.job, birth.rev)
            index.runs_of.setdefault(birth.job, []).append(run)


def _index_rest(index: Index, event: AnyEvent) -> None:
    match event:
        case Refused() | BeatRefused():
            index.refused.setdefault(event.run, []).append(event)
        case Effect():
            index.effects.setdefault(event.run, []).append(event)
        case Told():
            index.tolds.setdefault(event.run, []).append(event)
        case _:
            pass


def _sort_rows(run: Run) -> None:
    run.rows.sort(key=_version)
    segment: Segment | None = None
    for row in run.rows:
        if isinstance(row, BeatEvent):
            if segment is not None and segment.end is None:
                segment.beats.append(row)
        elif isinstance(row, Claim):
            segment = Segment(row)
            run.segments.append(segment)
        elif isinstance(row, CancelOk):
            if segment is not None:
                segment.cancel = row
        elif isinstance(row, ChangeEvent):
            if segment is not None and segment.end is None:
                segment.end = row
        elif isinstance(row, DagStart | DagEnd | DagAgain):
            pass  # A run of a workflow, which nobody claims.
        else:
            assert isinstance(row, Fire | Enqueue | DagRelease)
            run.births.append(row)


def _version(row: StoreRun) -> int:
    return row.v


def _order(event: Event) -> float:
    return event.when.timestamp() if event.when else 0.0


def stories(index: Index) -> dict[str, list[Event]]:
    """The events of each entity, in the order of their times."""
    found: dict[str, list[Event]] = defaultdict(list)
    for event in index.events:
        for entity in _entities(index, event):
            found[entity].append(event)
    for story in found.values():
        story.sort(key=lambda event: (_order(event), getattr(event, "v", 0) or 0))
    return found


def _entities(index: Index, event: AnyEvent) -> Iterable[str]:
    yield f"source {event.src}"
    for word in ("run", "dag", "job", "key", "scope", "worker", "target"):
        value = getattr(event, word, None)
        if value is not None:
            yield f"{word} {value}"
    run = getattr(event, "run", None)
    if run is not None and not hasattr(event, "job") and run in index.runs:
        yield f"job {index.runs[run].job}"
