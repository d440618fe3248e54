"""What a person does to a run that did not go well: run parts of it anew, or go on without them.

A task that nobody has been told about is simply begun or ended. One that has ended was told to its children,
and by them to others: then all that follows it is set back to waiting, with counters taken from what stays as
it was, and decided anew. That costs what is set back, not what the run has.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from msgspec.structs import replace as with_

from gnomon.core.runs.events import (
    Fail,
    Redrive,
    Reopen,
    Repair,
    Rerun,
    RerunFailed,
    Retry,
    Skip,
    Succeed,
    name_of,
)
from gnomon.core.runs.rows import Book
from gnomon.core.runs.state import RunStatus, TaskState, TaskStatus
from gnomon.core.values.document import Document
from gnomon.core.workflows.trigger_rules import Ending
from gnomon.errors import IllegalTransition

_T = TaskStatus
_UNTOLD = frozenset({_T.WAITING, _T.HELD, _T.HALTED})
_BROKEN = frozenset({_T.FAILED, _T.CANCELLED, _T.HALTED})
_REOPENED = _BROKEN | {_T.COMPLETED}

# Which statuses of a task a repair may find.
REPAIRABLE: dict[type[Repair], frozenset[TaskStatus]] = {
    Rerun: frozenset(_T) - {_T.WAITING, _T.RELEASED, _T.HELD},
    Retry: _BROKEN,
    Skip: _BROKEN | {_T.WAITING, _T.HELD},
    Succeed: _BROKEN,
    Fail: frozenset({_T.HALTED}),
}


def repair(book: Book, event: Repair) -> None:
    """Raises IllegalTransition if the task, or one that would be set back with it, is not fit for it."""
    match event:
        case RerunFailed():
            _rerun(book, _broken(book), action="rerun_failed")
        case Rerun(tasks):
            _check(book, event, tasks)
            _rerun(book, tasks, action="rerun")
        case Retry(task):
            _check(book, event, [task])
            if book.tasks[task].status is _T.HALTED:
                book.repaired.add(task)
                book.begin(task)
            else:
                _rerun(book, [task], action="retry")
        case Redrive(ends):
            _redrive(book, ends)
        case Skip(task):
            _check(book, event, [task])
            _settle(book, task, _T.SKIPPED, action="skip")
        case Succeed(task, result):
            _check(book, event, [task])
            _settle(book, task, _T.COMPLETED, action="succeed", result=result)
        case Fail(task):
            _check(book, event, [task])
            book.close(task, _T.FAILED)
        case Reopen(task, round_):
            _reopen(book, task, round_)
        case _:
            assert_never(event)


def _check(book: Book, event: Repair, tasks: Collection[int]) -> None:
    book.need(tasks)
    for task in tasks:
        status = book.tasks[task].status
        if status not in REPAIRABLE[type(event)]:
            raise IllegalTransition(_named(book, task), status=status, action=name_of(event))


def _broken(book: Book) -> list[int]:
    places = range(len(book.plan.graph.names))
    book.need(places)
    broken = [task for task in places if book.tasks[task].status in _BROKEN]
    if not broken:
        raise IllegalTransition("run without failed tasks", status=book.run.status, action="rerun_failed")
    return broken


def _redrive(book: Book, ends: Collection[tuple[int, int | None]]) -> None:
    """An end that the run has gone on from since is left, and settles nothing that ended badly after it."""
    book.need(task for task, _ in ends)
    current = [task for task, round_ in ends if round_ in (None, book.tasks[task].round)]
    for task in current:
        status = book.tasks[task].status
        if status is _T.RELEASED:
            advice = "Other items of it have not ended. Ask again when they have."
            raise IllegalTransition(_named(book, task), status=status, action="redrive", advice=advice)
    book.repaired.update(current)
    broken = {task for task in current if book.tasks[task].status in _BROKEN}
    if broken:
        _rerun(book, broken | _stopped(book), action="redrive")


def _stopped(book: Book) -> set[int]:
    """What was cancelled because something had failed: it goes on with what is done anew."""
    if book.run.ends_as is not RunStatus.FAILED:
        return set()
    places = range(len(book.plan.graph.names))
    book.need(places)
    return {task for task in places if book.tasks[task].status is _T.CANCELLED}


def _reopen(book: Book, task: int, round_: int) -> None:
    book.need([task])
    if book.tasks[task].round != round_ or book.tasks[task].status not in _REOPENED:
        return  # The task has gone on without that run.
    waiting = _set_back(book, {task} | _stopped(book), action="reopen") - {task}
    book.repaired.discard(task)  # What is left of its bad ends is inside of it.
    book.put(task, with_(book.tasks[task], status=_T.RELEASED))
    book.run = with_(book.run, live=book.run.live + 1)
    book.decide(sorted(waiting))


def _settle(
    book: Book, task: int, status: TaskStatus, *, action: str, result: Document | None = None
) -> None:
    was_told = book.tasks[task].status not in _UNTOLD
    book.repaired.add(task)
    anew = _set_back(book, [task], action=action) if was_told else ()
    if result is not None:
        book.new_results[task] = book.results[task] = result
    book.close(task, status)
    book.decide(sorted(anew))


def _rerun(book: Book, tasks: Collection[int], *, action: str) -> None:
    book.decide(sorted(_set_back(book, tasks, action=action)))


def _set_back(book: Book, roots: Collection[int], *, action: str) -> set[int]:
    """These tasks and all that follows them wait again, as if they had never begun."""
    graph = book.plan.graph
    affected = graph.downstream(roots).union(roots)
    book.need(affected.union(*(graph.parents[task] for task in affected)))
    for task in affected:
        status = book.tasks[task].status
        if status in (_T.RELEASED, _T.HELD):
            raise IllegalTransition(_named(book, task), status=status, action=action)
        if status.ending is not None:
            book.run = book.run.counted(status, -1)
        elif status is _T.HALTED:
            book.run = with_(book.run, halted=book.run.halted - 1)
    book.run = with_(book.run, status=RunStatus.RUNNING, ends_as=None)
    book.repaired |= affected
    for task in affected:
        book.put(task, _anew(book, task, affected))
        book.results[task] = None
    return affected


def _anew(book: Book, task: int, affected: Collection[int]) -> TaskState:
    parents = book.plan.graph.parents[task]
    endings = [book.tasks[parent].status.ending for parent in parents if parent not in affected]
    ended = len(endings) - endings.count(None)
    return TaskState(
        _T.WAITING,
        len(parents) - ended,
        endings.count(Ending.FAILURE),
        endings.count(Ending.SKIP),
        book.tasks[task].round,
    )


def _named(book: Book, task: int) -> str:
    return f"task {book.plan.graph.names[task]!r}"
