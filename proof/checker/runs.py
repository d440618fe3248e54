"""A run, and what it was handed out for: all that a history says of it, in the order of its versions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from proof.checker.faults import FOREVER
from proof.checker.history.events import Beat as BeatEvent
from proof.checker.history.events import (
    Birth,
    CancelOk,
    Claim,
    DagAgain,
    DagStart,
    Ending,
    Exit,
    Expired,
    Fire,
    Released,
    SchedSet,
    Start,
    StoreRun,
)


@dataclass(slots=True)
class Segment:
    """One hand-out of a run: its claim, the beats, and the change that ended it."""

    claim: Claim
    beats: list[BeatEvent] = field(default_factory=list)
    cancel: CancelOk | None = None
    end: StoreRun | None = None

    @property
    def lease_until(self) -> datetime:
        return self.beats[-1].lease_until if self.beats else self.claim.lease_until

    @property
    def last_sign(self) -> datetime | None:
        """When the holder last proved that it lives."""
        return self.beats[-1].db if self.beats else self.claim.db

    def asked_since(self, lease: timedelta) -> datetime | None:
        """When the holder sent what was granted last. That may have been long on its way."""
        return min(self.last_sign, self.lease_until - lease) if self.last_sign is not None else None


@dataclass(slots=True)
class Run:
    """Everything about one run. `rows` are its store events in the order of their versions."""

    id: str
    births: list[Birth] = field(default_factory=list)
    rows: list[StoreRun] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    spec: SchedSet | None = None

    @property
    def job(self) -> str | None:
        return self.births[0].job if self.births else None

    @property
    def run_at(self) -> datetime | None:
        """Before this, nobody may claim it."""
        if not self.births:
            return None
        birth = self.births[0]
        if birth.run_at is not None:
            return birth.run_at
        return birth.due if isinstance(birth, Fire) else birth.db

    @property
    def ending(self) -> Ending | None:
        """The first one, unless somebody mended it since: then the next."""
        ending: Ending | None = None
        for row in self.rows:
            if isinstance(row, DagAgain):
                ending = None
            elif isinstance(row, Ending) and ending is None:
                ending = row
        return ending

    @property
    def spans(self) -> list[tuple[datetime, datetime]]:
        """When it was live: from its birth to its end, and once more if somebody mended it."""
        spans, since = [], self.births[0].db if self.births else None
        for row in self.rows:
            if isinstance(row, DagAgain):
                since = row.db
            elif isinstance(row, Ending) and since is not None and row.db is not None:
                spans.append((since, row.db))
                since = None
        return [*spans, (since, FOREVER)] if since is not None else spans

    @property
    def begun(self) -> DagStart | None:
        """If it is a run of a workflow: its first task may begin."""
        return next((row for row in self.rows if isinstance(row, DagStart)), None)

    @property
    def entity(self) -> str:
        return f"run {self.id}"

    @property
    def suspicions(self) -> list[bool]:
        """Of each hand-out: whether it left a suspect, whose worker died in the last one that was a try."""
        told, is_suspect = [], False
        for segment in self.segments:
            if self.was_tried(segment):
                is_suspect = isinstance(segment.end, Expired)
            told.append(is_suspect)
        return told

    def was_tried(self, segment: Segment) -> bool:
        """Not if its worker lacked what it needs, or gave it back before it began."""
        end = segment.end
        if not isinstance(end, Released):
            return True
        if end.why == "snoozed":
            return end.kind is None
        return any(start.token == segment.claim.token for start in self.starts)
