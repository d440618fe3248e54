"""What an event makes of a run of a workflow. The one place that decides; stores only apply.

How a store uses it, in the transaction that accepts the events (the fenced end of an execution, a click of
a person, a deadline that has passed):

1. Lock the row of the run, and of the runs around it, in order of id, and read them. This comes before any
   lock of a lease or of a row of the queue. From here on nothing else happens to the run: two parents that
   end together are two events one after the other, and their child begins once.
2. Call `after`. While it answers `Needs`, load those rows and results too and call it again. It is a pure
   function, so asking again costs nothing but the asking. An end that succeeds needs the task and its
   children, in one question; only a cascade of skipped tasks asks more, twice as many rows each time.
3. Write `Changes`: one UPDATE for all rows of `tasks`, with the values given; one for the run; one INSERT
   for what `releases` begin, at the run's gate if `is_held`. `sweep` and `gate` are one UPDATE each, and
   rare. If `has_ended` and the run is inside another, that one gets an `Ended`, in the same transaction; if
   a run that had ended goes on, a `Reopen`; if the `gate` moves, the runs inside of this one get an
   `OuterTurned`. The dead letters of what is `repaired` are settled, and holds of what is `unheld` forgotten.

What is read and written grows with the out-degree of the task that ended, plus what ends because of it.
Every task ends once, so a whole run costs its tasks and edges once, however they are cut into transactions.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import assert_never

from msgspec.structs import replace as with_

from gnomon.core.executions.execution import Failure
from gnomon.core.runs.events import (
    Approve,
    Arrived,
    Cancel,
    Changes,
    Decision,
    Ended,
    Event,
    Expired,
    Fail,
    GiveUp,
    Needs,
    OuterTurned,
    Pause,
    Redrive,
    Reject,
    Reopen,
    Report,
    Rerun,
    RerunFailed,
    Resume,
    Retry,
    Skip,
    Started,
    State,
    Succeed,
    name_of,
)
from gnomon.core.runs.repairs import repair
from gnomon.core.runs.rows import Book, Lacking
from gnomon.core.runs.state import RunState, RunStatus, TaskStatus
from gnomon.core.values.document import Document
from gnomon.core.values.instants import instant_text
from gnomon.core.workflows.workflow import Approval, FailureStrategy, Plan
from gnomon.errors import IllegalTransition

_R = RunStatus
_UNDER_WAY = frozenset({_R.RUNNING, _R.PAUSED})
_REPAIRABLE = _UNDER_WAY | {_R.COMPLETED, _R.FAILED, _R.CANCELLED}
# In which status of a run a person may do what. Cancelling twice is fine: a reply may get lost.
RUN_ACTIONS: dict[type[Event], frozenset[RunStatus]] = {
    Approve: _UNDER_WAY,
    Reject: _UNDER_WAY,
    Cancel: _UNDER_WAY | {_R.PENDING, _R.CANCELLED},
    Pause: _UNDER_WAY,
    Resume: _UNDER_WAY,
    Rerun: _REPAIRABLE,
    RerunFailed: _REPAIRABLE,
    Retry: _REPAIRABLE,
    Redrive: _REPAIRABLE,
    Reopen: _REPAIRABLE,
    Skip: _REPAIRABLE,
    Succeed: _REPAIRABLE,
    Fail: _UNDER_WAY,
}


def after(plan: Plan, state: State, events: Sequence[Event], *, now: datetime) -> Changes | Needs:
    """What events make of a run, in their order. Raises IllegalTransition for what a person may not do.

    Reports that come too late (of an earlier round, of a task that has ended) change nothing.
    """
    book = Book.of(plan, state, now=now)
    try:
        book.need(touched(plan, state.run, events))
        for event in events:
            book.next_event()
            _take(book, event)
            book.tell()
            status = _status(plan, book.run, is_outer_held=book.is_outer_held)
            if status is not book.run.status:
                book.run = with_(book.run, status=status)
    except Lacking as lacking:
        return lacking.needs
    return book.changes(state.tasks)


def touched(plan: Plan, run: RunState, events: Sequence[Event]) -> set[int]:
    """The rows that the events need for sure, so that most batches need one question."""
    rows, children = set[int](), plan.graph.children
    for event in events:
        match event:
            case Ended(task=task, item=item):
                rows.add(task)
                if item is None and run.ends_as is None:
                    rows.update(children[task])
            case Started():
                rows.update(plan.graph.roots)
            case Arrived(task=task) | Expired(task=task) | Approve(task=task) | Reject(task=task):
                rows.add(task)
                rows.update(children[task])
            case GiveUp(after=ended):
                rows.update(child for task in ended for child in children[task])
            case _:
                pass
    return rows


def _take(book: Book, event: Event) -> None:
    match event:
        case Started():
            if book.run.status is _R.PENDING:
                book.run = with_(book.run, status=_R.RUNNING)
                book.decide(book.plan.graph.roots)
        case Ended() | Arrived() | Expired():
            _report(book, event)
        case OuterTurned():
            pass  # The status follows.
        case GiveUp():
            if not book.is_stopping and not book.run.status.is_final:
                _give_up(book, event)
        case _:
            _check_allowed(book.run, event)
            _act(book, event)


def _report(book: Book, event: Report) -> None:
    state = book.tasks[event.task]
    expected = TaskStatus.RELEASED if isinstance(event, Ended) else TaskStatus.HELD
    if state.round != event.round or state.status is not expected:
        return
    match event:
        case Ended(item=None):
            book.results[event.task] = event.result
            book.end(event.task, event.status)
        case Ended():
            _end_item(book, event)
        case Arrived(data=data):
            book.results[event.task] = book.new_results[event.task] = data
            book.end(event.task, TaskStatus.COMPLETED)
        case Expired():
            book.failures[event.task] = Failure("timeout", "Nothing came in time.")
            book.end(event.task, TaskStatus.FAILED)
        case _:
            assert_never(event)


def _give_up(book: Book, event: GiveUp) -> None:
    """Stop the run. What cannot begin says why; what runs goes on to an end that nothing follows."""
    for child in {child for task in event.after for child in book.plan.graph.children[task]}:
        if book.tasks[child].status is TaskStatus.WAITING:
            book.failures[child] = Failure(
                "internal_error", "It could not begin: an internal error. The log has more."
            )
            book.put(child, book.tasks[child])
    book.sweep(_R.FAILED)


def why_given_up(plan: Plan, run: RunState) -> Failure | None:
    """Of a run that has ended. Where the strategy stops nothing, only a mistake of ours can have."""
    if run.ends_as is not _R.FAILED or _is_strict(plan):
        return None
    return Failure("internal_error", "It could not go on: an internal error. The log has more.")


def _end_item(book: Book, event: Ended) -> None:
    state = with_(
        book.tasks[event.task],
        items_left=book.tasks[event.task].items_left - 1,
        items_failed=book.tasks[event.task].items_failed + (event.status is TaskStatus.FAILED),
        items_cancelled=book.tasks[event.task].items_cancelled + (event.status is TaskStatus.CANCELLED),
    )
    assert state.items_left >= 0
    book.put(event.task, state)
    is_bad = bool(state.items_failed or state.items_cancelled)
    if not state.items_left:
        ended_badly = TaskStatus.FAILED if state.items_failed else TaskStatus.CANCELLED
        book.end(event.task, ended_badly if is_bad else TaskStatus.COMPLETED)
    elif is_bad and not book.is_stopping and _is_strict(book.plan):
        book.sweep(RunStatus.FAILED)


def _check_allowed(run: RunState, event: Event) -> None:
    action = name_of(event)
    if run.ends_as is not None and not run.status.is_final and not isinstance(event, Cancel):
        raise IllegalTransition("run", status="being stopped", action=action)
    if run.status not in RUN_ACTIONS[type(event)]:
        raise IllegalTransition("run", status=run.status, action=action)


def _act(book: Book, event: Event) -> None:
    match event:
        case Cancel():
            if not book.is_stopping and not book.run.status.is_final:
                book.sweep(_R.CANCELLED)
        case Pause():
            book.run = with_(book.run, is_paused=True)
        case Resume():
            if book.run.halted:
                raise IllegalTransition(
                    "run with failed tasks to decide about", status=book.run.status, action="resume"
                )
            if book.is_outer_held:
                raise IllegalTransition(
                    "run inside of one that is paused",
                    status=book.run.status,
                    action="resume",
                    advice="Let the run around it go on.",
                )
            book.run = with_(book.run, is_paused=False)
        case Approve() | Reject():
            _decided(book, event)
        case Rerun() | RerunFailed() | Retry() | Redrive() | Skip() | Succeed() | Fail() | Reopen():
            repair(book, event)
        case _:
            raise AssertionError(f"{event} is no act of a person")


def _decided(book: Book, event: Decision) -> None:
    task, status = book.plan.task(event.task), book.tasks[event.task].status
    if not isinstance(task.work, Approval) or status is not TaskStatus.HELD:
        raise IllegalTransition(f"task {task.name!r}", status=status, action=name_of(event))
    said = {"by": event.by, "note": event.note, "at": instant_text(book.now)}
    result = Document.of(said, field="approval")
    book.new_results[event.task] = result
    if isinstance(event, Approve):
        book.results[event.task] = result
        book.end(event.task, TaskStatus.COMPLETED)
    else:
        book.failures[event.task] = Failure("rejected", f"Rejected by {event.by}: {event.note}")
        book.end(event.task, TaskStatus.FAILED)


def _status(plan: Plan, run: RunState, *, is_outer_held: bool) -> RunStatus:
    """The status of a run follows from its counters, and from the run around it."""
    if run.left:
        is_held = (run.is_paused or run.halted or is_outer_held) and run.ends_as is None
        return _R.PENDING if run.status is _R.PENDING else _R.PAUSED if is_held else _R.RUNNING
    if run.ends_as is _R.CANCELLED and run.cancelled:
        return _R.CANCELLED
    if not run.failed + run.cancelled:
        return _R.COMPLETED
    was_stopped = run.ends_as is _R.FAILED or _is_strict(plan)
    is_enough = plan.workflow.allow_partial_completion and run.completed and not was_stopped
    return _R.COMPLETED if is_enough else _R.FAILED


def _is_strict(plan: Plan) -> bool:
    return plan.workflow.failure_strategy is FailureStrategy.FAIL_FAST
