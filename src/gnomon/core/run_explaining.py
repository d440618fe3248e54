"""Why a run of a workflow does not go on, and why a task of it may not begin: what its own rows say.

Who reads it shall know what to do next: which task it is about, and which acts there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.core.dag import OpenTask, Run
from gnomon.core.execution import Failure
from gnomon.core.explaining import Obstacle, Reason
from gnomon.core.instants import instant_text
from gnomon.core.run_state import TaskStatus

OPEN_TASKS_SHOWN_MAX = 20
_NAMES_SHOWN_MAX = 5
_PAUSED = "is paused: nothing new of it begins until somebody resumes it."


@dataclass(frozen=True, slots=True)
class RunView:
    """A run that has begun, and the first of its tasks that have begun and not ended, with their names.

    `unreadable` says why its definition cannot be read. Then no task has a name.
    """

    run: Run
    open: Sequence[tuple[str, OpenTask]] = ()
    unreadable: str | None = None

    def named(self, status: TaskStatus) -> list[tuple[str, OpenTask]]:
        return [(name, task) for name, task in self.open if task.status is status]


def why_run_waits(view: RunView) -> tuple[Reason, ...]:
    """Of a run that has begun and not ended: at least one."""
    state = view.run.state
    reasons = [] if view.unreadable is None else [_unreadable(view.run, view.unreadable)]
    if state.ends_as is not None:
        return (*reasons, _stopping(view.run))
    if state.is_paused:
        reasons.append(Reason(Obstacle.PAUSED, f"It {_PAUSED}"))
    reasons += [_halted(name, task) for name, task in view.named(TaskStatus.HALTED)]
    reasons += [_held(name, task) for name, task in view.named(TaskStatus.HELD)]
    if state.live:
        reasons.append(_under_way(view))
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
            f"{_shown(task.failure)}: retry, skip, succeed or fail that one."
        )
        reasons.append(Reason(Obstacle.HALTED, told, {"dag_run_id": str(run_id), **_failed(name, task)}))
    return tuple(reasons)


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
        f"Its task {name!r} failed{_shown(task.failure)}, and the run waits for a decision about it: "
        "retry, skip, succeed or fail the task."
    )
    return Reason(Obstacle.HALTED, told, _failed(name, task))


def _failed(name: str, task: OpenTask) -> dict[str, object]:
    failure = task.failure
    error = None if failure is None else {"kind": failure.kind, "message": failure.message}
    return {"task": name, "error": error}


def _shown(failure: Failure | None) -> str:
    return "" if failure is None else f" ({failure.kind}: {failure.message})"


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
