"""Why a run of a workflow does not go on, and why a task of it may not begin: what its own rows say.

Who reads it shall know what to do next: which task it is about, and which acts there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.core.explain.attempts import error_of, said
from gnomon.core.explain.obstacles import Obstacle, Reason
from gnomon.core.runs.run import FailedTask, OpenTask, Run
from gnomon.core.runs.state import TaskStatus
from gnomon.core.values.instants import instant_text

OPEN_TASKS_SHOWN_MAX = 20
FAILED_TASKS_SHOWN_MAX = 5
_NAMES_SHOWN_MAX = 5
_PAUSED = "is paused: nothing new of it begins until it is resumed: gnomon dag-run resume."


@dataclass(frozen=True, slots=True)
class RunView:
    """A run that has begun, and the first of its tasks that have begun and not ended, with their names.

    `failed` are the first of those that failed. `unreadable` says why its definition cannot be read. Then no
    task has a name.
    """

    run: Run
    open: Sequence[tuple[str, OpenTask]] = ()
    unreadable: str | None = None
    failed: Sequence[tuple[str, FailedTask]] = ()

    def named(self, status: TaskStatus) -> list[tuple[str, OpenTask]]:
        return [(name, task) for name, task in self.open if task.status is status]


def why_run_waits(view: RunView) -> tuple[Reason, ...]:
    """Of a run that has begun and not ended: at least one."""
    state = view.run.state
    reasons = [] if view.unreadable is None else [_unreadable(view.run, view.unreadable)]
    if state.ends_as is not None:
        return (*reasons, _stopping(view.run), *_failures(view))
    if state.is_paused:
        reasons.append(Reason(Obstacle.PAUSED, f"It {_PAUSED}"))
    reasons += [_halted(name, task) for name, task in view.named(TaskStatus.HALTED)]
    reasons += [_held(name, task) for name, task in view.named(TaskStatus.HELD)]
    if state.live:
        reasons.append(_under_way(view))
    return (*reasons, *_failures(view))


def why_run_failed(view: RunView) -> tuple[Reason, ...]:
    """Of a run that has ended as FAILED: the run's own failure, or the tasks that failed."""
    run, reasons = view.run, list(_failures(view))
    if run.failure is not None:
        told = f"The run failed{said(run.failure)}. Mend its workflow or configuration, then trigger it anew."
        reasons.insert(0, Reason(Obstacle.FAILED, told, {"error": error_of(run.failure)}))
    return tuple(reasons)


def why_task_is_held(view: RunView) -> tuple[Reason, ...]:
    """Of a task that waits at the gate of its run. Empty if the run has let go of it in between."""
    run_id, state = view.run.id, view.run.state
    reasons = []
    if state.is_paused:
        reasons.append(
            Reason(Obstacle.PAUSED, f"Its run {run_id} {_PAUSED}", {"dag_run_id": str(run_id)}),
        )
    for name, task in view.named(TaskStatus.HALTED):
        told = (
            f"Its run {run_id} waits for a decision about the task {name!r}, which failed"
            f"{said(task.failure)}: retry, skip, succeed or fail that one."
        )
        reasons.append(Reason(Obstacle.HALTED, told, {"dag_run_id": str(run_id), **_failed(name, task)}))
    return tuple(reasons)


def _failures(view: RunView) -> list[Reason]:
    return [_task_failed(name, task) for name, task in view.failed[:FAILED_TASKS_SHOWN_MAX]]


def _task_failed(name: str, task: FailedTask) -> Reason:
    which = f"Its task {name!r}" if task.item is None else f"Item {task.item} of its task {name!r}"
    why = said(task.failure)
    if task.failure is None and task.execution is not None:
        why = f": see run {task.execution}, which is inside of it"
    tries = f" in attempt {task.attempts}" if task.attempts else ""
    others = task.items_failed - 1
    more = f", and {others} more {'item' if others == 1 else 'items'}" if others > 0 else ""
    if task.status is TaskStatus.RELEASED:
        left = "1 item is" if task.items_left == 1 else f"{task.items_left} items are"
        follows = f"The task fails when the rest of it has ended: {left} left. Mend what failed meanwhile."
    else:
        follows = (
            "What needs its success does not run. Mend what failed, then run the task again, and all that "
            "follows it: gnomon dag-run retry."
        )
    details = {
        "task": name,
        "item": task.item,
        "execution_id": None if task.execution is None else str(task.execution),
        "attempts": task.attempts,
        "error": error_of(task.failure),
    }
    return Reason(Obstacle.TASK_FAILED, f"{which} failed{tries}{why}{more}. {follows}", details)


def _unreadable(run: Run, why: str) -> Reason:
    told = (
        f"Revision {run.revision} of its workflow cannot be read by this release, so it does not go on: {why}"
    )
    return Reason(Obstacle.UNREADABLE, told, {"revision": run.revision})


def _stopping(run: Run) -> Reason:
    state = run.state
    asked = "1 task was" if state.live == 1 else f"{state.live} tasks were"
    runs = "runs" if state.live == 1 else "run"
    told = f"It is being stopped, and will be {state.ends_as}: {asked} asked to stop, and still {runs}."
    return Reason(Obstacle.STOPPING, told, {"running": state.live, "ends_as": state.ends_as})


def _halted(name: str, task: OpenTask) -> Reason:
    told = (
        f"Its task {name!r} failed{said(task.failure)}, and the run waits for a decision about it: "
        "retry, skip, succeed or fail the task."
    )
    return Reason(Obstacle.HALTED, told, _failed(name, task))


def _failed(name: str, task: OpenTask) -> dict[str, object]:
    return {"task": name, "error": error_of(task.failure)}


def _held(name: str, task: OpenTask) -> Reason:
    until = None if task.until is None else instant_text(task.until)
    at_most = "" if until is None else f" until {until}"
    if task.event is None:
        told = f"Its task {name!r} waits for an approval{at_most}: approve or reject it."
        return Reason(Obstacle.WAITS_FOR_APPROVAL, told, {"task": name, "until": until})
    correlated = f" with the correlation {task.correlation!r}" if task.correlation else ""
    told = f"Its task {name!r} waits for the event {task.event!r}{correlated}{at_most}."
    details = {"task": name, "event": task.event, "correlation": task.correlation, "until": until}
    return Reason(Obstacle.WAITS_FOR_EVENT, told, details)


def _under_way(view: RunView) -> Reason:
    state, is_one = view.run.state, view.run.state.live == 1
    names = [name for name, _ in view.named(TaskStatus.RELEASED)][:_NAMES_SHOWN_MAX]
    more = state.live - len(names)
    shown = ", ".join(map(repr, names)) + (f" and {more} more" if more and names else "")
    listed = f": {shown}." if names else "."
    if state.is_paused or state.halted:
        does = "has begun" if is_one else "have begun"
        rest = "It runs to its end, or waits" if is_one else "They run to their end, or wait"
        told = f"{state.live} of its {view.run.tasks} tasks {does}{listed} {rest} for the run."
    else:
        told = f"{state.live} of its {view.run.tasks} tasks {'is' if is_one else 'are'} under way{listed}"
    counts = {"tasks": view.run.tasks, "running": state.live, "left": state.left, "names": names}
    return Reason(Obstacle.TASKS_UNDER_WAY, told, counts)
