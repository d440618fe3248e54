"""Rows of runs and of their tasks to values. The way back is `store/writes/batches.py`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import filterfalse
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, Failure, Trigger
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.run import Hold, Run, RunId, TaskItem, TaskRun
from gnomon.core.runs.state import RunState, RunStatus, TaskState, TaskStatus
from gnomon.core.runs.write_set import Outer, VersionedRun
from gnomon.core.values.document import Document
from gnomon.store.databases.database import Row
from gnomon.store.databases.rows import document_of, failure_of

ITEMS_SHOWN_MAX = 100
# Else what failed was made good, or has been set back.
_SHOW_FAILURE = frozenset({TaskStatus.RELEASED, TaskStatus.HALTED, TaskStatus.FAILED, TaskStatus.CANCELLED})
_LIVE = {True: ExecutionStatus.RUNNING, False: ExecutionStatus.PENDING}


def run_as_read(row: Row) -> VersionedRun:
    outer = row["outer_run_id"]
    return VersionedRun(
        id=row["id"],
        tenant_id=row["tenant_id"],
        dag_id=row["dag_id"],
        base=row["base"],
        state=_run_state(row),
        outer=None if outer is None else Outer(outer, row["outer_task"], row["outer_round"]),
        nominal_time=row["nominal_time"],
        priority=row["priority"],
        version=row["version"],
        moved_at=row["moved_at"],
    )


def _run_state(row: Row) -> RunState:
    return RunState(
        status=RunStatus(row["status"]),
        left=row["unended"],
        live=row["live"],
        halted=row["halted"],
        completed=row["completed"],
        failed=row["failed"],
        cancelled=row["cancelled"],
        is_paused=row["is_paused"],
        ends_as=RunStatus(row["ends_as"]) if row["ends_as"] else None,
        config=Document(row["config"]),
        nesting=row["nesting"],
        time=row["nominal_time"] or row["started_at"],
    )


def task_state(row: Row) -> TaskState:
    return TaskState(
        TaskStatus(row["status"]),
        row["parents_left"],
        row["parents_failed"],
        row["parents_skipped"],
        row["round"],
        row["items_left"],
        row["items_failed"],
        row["items_cancelled"],
    )


def task_run(row: Row, ran: Sequence[Row], note: Row | None, hold: Row | None) -> TaskRun:
    """`ran` are the executions of its round. What is set back to wait has done nothing in the next yet."""
    state = task_state(row)
    began = () if state.status is TaskStatus.WAITING else ran
    has_ended = state.status.ending is not None or state.status is TaskStatus.HALTED
    ends = [one["finished_at"] for one in began if one["finished_at"]]
    if note is not None:
        ends.append(note["at"])
    return TaskRun(
        task=row["task"],
        state=state,
        executions=tuple(ExecutionId(one["execution_id"]) for one in ran),
        result=None if note is None else document_of(note["result"]),
        failure=(note and failure_of(note)) or (_failure(began) if state.status in _SHOW_FAILURE else None),
        attempt=max(map(_attempt, began), default=0),
        started_at=min((one["started_at"] for one in began if one["started_at"]), default=None),
        finished_at=max(ends, default=None) if has_ended else None,
        hold=None if hold is None else Hold(hold["event"], hold["correlation"], hold["until"]),
        failed_execution=_first_failed(began) if state.status in _SHOW_FAILURE else None,
        items=_items(began),
    )


def _has_failed(row: Row) -> bool:
    return row["outcome"] in (ExecutionStatus.FAILED, ExecutionStatus.TIMEOUT)


def _first_failed(ran: Sequence[Row]) -> ExecutionId | None:
    return next((ExecutionId(one["execution_id"]) for one in ran if _has_failed(one)), None)


def _items(ran: Sequence[Row]) -> Sequence[TaskItem]:
    if not ran or ran[0]["item"] is None:
        return ()
    shown = [*filter(_has_failed, ran), *filterfalse(_has_failed, ran)][:ITEMS_SHOWN_MAX]
    return sorted(
        TaskItem(
            row["item"],
            ExecutionId(row["execution_id"]),
            ExecutionStatus(row["outcome"]) if row["outcome"] else _LIVE[bool(row["is_leased"])],
            row["attempts"] + (not row["is_over"]),
        )
        for row in shown
    )


def _attempt(one: Row) -> int:
    """As `Execution.attempt` counts."""
    return int(max(one["attempts"], bool(one["started_at"])) if one["is_over"] else one["attempts"] + 1)


def _failure(ran: Sequence[Row]) -> Failure | None:
    """Of the item that failed, if it is one of many."""
    for row in ran:
        failure = failure_of(row)
        if failure is not None:
            item = row["failed_item"]
            return failure if item is None else Failure(failure.kind, f"item {item}: {failure.message}")
    return None


# As readers see them ---------------------------------------------------------------------------------


def run_of(row: Row) -> Run:
    outer = row["dag_run_id"]
    return Run(
        id=RunId(row["id"]),
        tenant_id=TenantId(row["tenant_id"]),
        dag_id=JobId(row["dag_id"]),
        base=row["base"],
        revision=row["revision"],
        tasks=row["tasks"],
        trigger=Trigger(row["trigger"]),
        state=_run_state(row) if row["status"] else _not_begun(row),
        outer=None if outer is None else RunId(outer),
        nominal_time=row["nominal_time"],
        due=row["due"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"] or row["completed_at"],
        failure=failure_of(row),
        backfill_id=row["backfill_id"],
    )


def _not_begun(row: Row) -> RunState:
    """Cancelled while it waited, or failed because it could not begin, if it has ended at all."""
    config = document_of(row["config"]) or Document("{}")
    if row["outcome"] is not None:
        status = RunStatus(row["outcome"])
        assert status in (RunStatus.CANCELLED, RunStatus.FAILED)
        return RunState(status, 0, cancelled=row["tasks"], config=config)
    return RunState(RunStatus.PENDING, row["tasks"], config=config)


def results_of(rows: Sequence[Row]) -> tuple[dict[tuple[UUID, int], Document | None], set[tuple[UUID, int]]]:
    """Results by run and task, and those that are too large to be one. The rows are in the order of items."""
    found: dict[tuple[UUID, int], Document | None] = {}
    items: dict[tuple[UUID, int], list[str]] = {}
    too_large = set()
    for row in rows:
        key = (row["dag_run_id"], row["task"])
        if not row["fits"]:
            too_large.add(key)
        elif row["item"] is not None:
            items.setdefault(key, []).append(row["result"] or "null")
        elif key not in found:  # A note comes first, and wins.
            found[key] = document_of(row["result"])
    listed = {key: Document(f"[{','.join(texts)}]") for key, texts in items.items() if key not in found}
    return found | listed, too_large
