"""What is left to do when what happened to runs is written: after the commit, for whoever made it."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from gnomon.core.runs.write_set import VersionedRun


@dataclass(slots=True)
class Aftermath:
    """`to_start`: inner runs to begin, with those around them; `ended`: workflows of which a run has ended.

    `ended_for_a_time`: those whose run had a nominal time, so that it may belong to a backfill.
    `asked_to_stop`: a worker runs something that shall stop.
    """

    to_start: list[tuple[UUID, UUID]] = field(default_factory=list)
    ended: set[UUID] = field(default_factory=set)
    ended_for_a_time: set[UUID] = field(default_factory=set)
    asked_to_stop: bool = False

    def note_end(self, run: VersionedRun) -> None:
        self.ended.add(run.dag_id)
        if run.nominal_time is not None:
            self.ended_for_a_time.add(run.dag_id)
