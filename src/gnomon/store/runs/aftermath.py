"""What is left to do when what happened to runs is written: after the commit, for whoever made it."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from gnomon.core.runs.decisions import why_given_up
from gnomon.core.values.document import Document
from gnomon.core.workflows.workflow import Plan
from gnomon.store.runs.rows import LockedRun


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

    def note_end(self, run: LockedRun) -> None:
        self.ended.add(run.dag_id)
        if run.nominal_time is not None:
            self.ended_for_a_time.add(run.dag_id)


def result_of(run: LockedRun) -> Document:
    """Of the execution that a run is."""
    return Document(f'{{"dag_run_id": "{run.id}"}}')


def ended_row(run: LockedRun, plan: Plan) -> tuple[object, ...]:
    """For `ended_run_rows`."""
    why = why_given_up(plan, run.state)
    told_why = (None, None) if why is None else (why.kind, why.message)
    return (run.id, run.state.status, result_of(run).text, *told_why)
