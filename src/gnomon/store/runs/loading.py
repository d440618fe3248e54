"""Rows of tasks and their results, loaded as the core asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from gnomon.core.runs.events import Needs
from gnomon.core.runs.state import TaskState
from gnomon.core.values.document import Document
from gnomon.core.values.limits import RESULT_BYTES_MAX
from gnomon.store.databases.database import Session
from gnomon.store.runs.rows import results_of, task_state
from gnomon.store.writes.batches import wanted_tasks


@dataclass(slots=True)
class Loaded:
    """What is known of one run."""

    tasks: dict[int, TaskState] = field(default_factory=dict)
    results: dict[int, Document | None] = field(default_factory=dict)
    too_large: set[int] = field(default_factory=set)


async def load(session: Session, needs: Mapping[UUID, Needs], loaded: Mapping[UUID, Loaded]) -> None:
    tasks = [(run_id, task) for run_id, need in needs.items() for task in sorted(need.tasks | need.ahead)]
    if tasks:
        for row in await session.fetch("tasks_load", wanted_tasks(tasks)):
            loaded[row["dag_run_id"]].tasks[row["task"]] = task_state(row)
    asked = [(run_id, task) for run_id, need in needs.items() for task in sorted(need.results)]
    if asked:
        rows = await session.fetch("task_results", wanted_tasks(asked), bytes_max=RESULT_BYTES_MAX)
        found, too_large = results_of(rows)
        for run_id, task in asked:
            if (run_id, task) in too_large:
                loaded[run_id].too_large.add(task)
            else:
                loaded[run_id].results[task] = found.get((run_id, task))
