"""The rows of a run while a decision about it is made. What has not been loaded is asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from msgspec.structs import replace as with_

from gnomon.core.executions.execution import Failure
from gnomon.core.runs.events import Changes, Needs, Release, State
from gnomon.core.runs.releases import Known, Room, release_of
from gnomon.core.runs.state import SWEPT, RunState, RunStatus, TaskState, TaskStatus
from gnomon.core.values.document import JSON, Document
from gnomon.core.workflows.references import Unresolved
from gnomon.core.workflows.trigger_rules import Verdict
from gnomon.core.workflows.workflow import Approval, AwaitEvent, FailureStrategy, Plan
from gnomon.errors import InvalidInput


class Lacking(Exception):
    """A row or a result has not been loaded. Leaves this package as the value `needs`."""

    def __init__(self, needs: Needs) -> None:
        super().__init__("something has not been loaded")
        self.needs = needs


@dataclass(slots=True)
class Book:
    """Rows as they are after what was taken in so far. `tasks`: all that were loaded; `changed`: to write."""

    plan: Plan
    before: RunState
    now: datetime
    run: RunState
    tasks: dict[int, TaskState]
    results: dict[int, Document | None]
    too_large: frozenset[int]
    is_outer_held: bool = False
    changed: dict[int, TaskState] = field(default_factory=dict)
    releases: dict[int, Release] = field(default_factory=dict)
    new_results: dict[int, Document] = field(default_factory=dict)
    failures: dict[int, Failure] = field(default_factory=dict)
    is_swept: bool = False
    repaired: set[int] = field(default_factory=set)
    ended: deque[int] = field(default_factory=deque)  # Those whose children have not been told.
    room: Room = field(default_factory=Room)
    decoded_config: dict[str, JSON] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, state: State, *, now: datetime) -> Book:
        tasks, results = dict(state.tasks), dict(state.results)
        return cls(plan, state.run, now, state.run, tasks, results, state.too_large, state.is_outer_held)

    def changes(self, loaded: Mapping[int, TaskState]) -> Changes:
        """`loaded`: the rows of tasks as they were."""
        releases = tuple(self.releases[task] for task in sorted(self.releases))
        held = TaskStatus.HELD
        # One that began early is still held when another of its parents ends.
        unheld = [
            task
            for task, state in self.changed.items()
            if loaded[task].status is held and state.status is not held
        ]
        return Changes(
            self.before,
            self.run,
            self.changed,
            releases,
            self.new_results,
            self.failures,
            self.is_swept,
            frozenset(self.repaired),
            frozenset(unheld),
        )

    def next_event(self) -> None:
        """Whether a task fits does not depend on which other events came in the same transaction."""
        self.room = Room()

    # Rows --------------------------------------------------------------------------------------------

    def need(self, tasks: Iterable[int]) -> None:
        """Rows to go on with. Asks ahead for as many as there are, so a long cascade takes few questions."""
        known = self.tasks
        missing = [task for task in tasks if task not in known]
        if not missing:
            return
        wanted = frozenset(missing)
        raise Lacking(Needs(wanted, ahead=self.plan.graph.ahead(wanted, known.keys(), limit=len(known))))

    def need_results(self, tasks: Iterable[int]) -> None:
        wanted = frozenset[int]().union(*(self.plan.reads[task] for task in tasks))
        if not wanted:
            return
        fan_outs = [read for read in wanted if self.plan.task(read).fan_out is not None]
        self.need(fan_outs)
        for read in fan_outs:
            if self.tasks[read].status is not TaskStatus.COMPLETED:
                self.results[read] = None  # What some of its items brought is no result yet.
        missing = wanted.difference(self.results, self.too_large)
        if missing:
            raise Lacking(Needs(results=missing))

    def put(self, task: int, state: TaskState) -> None:
        self.tasks[task] = self.changed[task] = state

    @property
    def is_stopping(self) -> bool:
        return self.run.ends_as is not None

    # Ends --------------------------------------------------------------------------------------------

    def end(self, task: int, status: TaskStatus) -> None:
        """A task that began, or tried to, has come to its end. The strategy says what follows."""
        strategy = self.plan.workflow.failure_strategy
        if self.tasks[task].status is TaskStatus.RELEASED:
            self.run = with_(self.run, live=self.run.live - 1)
        if status is TaskStatus.FAILED and strategy is FailureStrategy.PAUSE and not self.is_stopping:
            self._halt(task)
            return
        self.close(task, status)
        has_failed = status in (TaskStatus.FAILED, TaskStatus.CANCELLED)
        if has_failed and strategy is FailureStrategy.FAIL_FAST and not self.is_stopping:
            self.sweep(RunStatus.FAILED)

    def _halt(self, task: int) -> None:
        if self.tasks[task].status is TaskStatus.HALTED:
            self.put(task, self.tasks[task])  # A retry that could not even begin: its failure is new.
            return
        self.put(task, self.tasks[task].become(TaskStatus.HALTED))
        self.run = with_(self.run, halted=self.run.halted + 1)

    def close(self, task: int, status: TaskStatus) -> None:
        if self.tasks[task].status is TaskStatus.HALTED:
            self.run = with_(self.run, halted=self.run.halted - 1)
        self.put(task, self.tasks[task].become(status))
        self.run = self.run.counted(status, 1)
        if status is not TaskStatus.COMPLETED:
            self.results[task] = None
        if not self.is_stopping:
            self.ended.append(task)

    def sweep(self, ends_as: RunStatus) -> None:
        """End what has not begun. The store does it to all rows; here it is done to those that are loaded."""
        for task in self.releases:
            # Begun and stopped in one transaction: nobody will ever see it begin.
            if self.tasks[task].status is TaskStatus.RELEASED:
                self.run = with_(self.run, live=self.run.live - 1)
                self.put(task, self.tasks[task].become(TaskStatus.CANCELLED))
        for task, state in self.tasks.items():
            if state.status in SWEPT:
                self.tasks[task] = state.become(TaskStatus.CANCELLED)
                if task in self.changed:
                    self.changed[task] = self.tasks[task]
        self.run = with_(
            self.run.counted(TaskStatus.CANCELLED, self.run.left - self.run.live),
            ends_as=ends_as,
            halted=0,
            is_paused=False,
        )
        self.releases.clear()
        self.ended.clear()
        self.is_swept = True

    def tell(self) -> None:
        """Tell the children of what has ended, and theirs in turn if they end by that."""
        while self.ended:
            task = self.ended[0]
            children = self.plan.graph.children[task]
            self.need(children)
            self.ended.popleft()
            ending = self.tasks[task].status.ending
            assert ending is not None
            for child in children:
                self.put(child, self.tasks[child].told(ending))
            self.decide(children)

    # Beginnings --------------------------------------------------------------------------------------

    def decide(self, tasks: Iterable[int]) -> None:
        """Begin, skip or leave waiting each of these that waits."""
        verdicts = {
            task: verdict
            for task in tasks
            if (state := self.tasks[task]).status is TaskStatus.WAITING
            and (verdict := state.verdict(self.plan, task)) is not Verdict.WAIT
        }
        if not verdicts:
            return
        # Of all of them first, in one question.
        self.need_results(task for task, verdict in verdicts.items() if verdict is Verdict.RUN)
        for task, verdict in verdicts.items():
            if self.is_stopping:
                return
            match verdict:
                case Verdict.RUN:
                    self.begin(task)
                case Verdict.SKIP:
                    self.close(task, TaskStatus.SKIPPED)
                case Verdict.BLOCK:
                    goes_on = self.plan.workflow.failure_strategy is FailureStrategy.CONTINUE
                    self.close(task, TaskStatus.SKIPPED if goes_on else TaskStatus.UPSTREAM_FAILED)

    def begin(self, place: int) -> None:
        if self.plan.reads[place]:
            self.need_results([place])
        task = self.plan.task(place)
        values = Known(
            self.plan,
            self.run.config,
            self.results,
            self.too_large,
            self.run.time,
            decoded_config=self.decoded_config,
        )
        if task.conditions and not all(condition.holds(values) for condition in task.conditions):
            self.close(place, TaskStatus.SKIPPED)
            return
        try:
            state = self.tasks[place]
            release = release_of(self.plan, place, state, self.run, values, room=self.room, now=self.now)
        except (Unresolved, InvalidInput) as error:
            self.failures[place] = Failure("invalid_input", str(error))
            self.end(place, TaskStatus.FAILED)
            return
        if release.items == ():
            # A round like any other, so that nobody takes the results of an earlier one for those of this.
            self.put(place, with_(self.tasks[place], round=release.round))
            self.new_results[place] = self.results[place] = Document("[]")
            self.close(place, TaskStatus.COMPLETED)
            return
        self._put_begun(place, release, is_held=isinstance(task.work, Approval | AwaitEvent))

    def _put_begun(self, place: int, release: Release, *, is_held: bool) -> None:
        state = self.tasks[place]
        halted = self.run.halted - (state.status is TaskStatus.HALTED)
        self.run = with_(self.run, halted=halted, live=self.run.live + (not is_held))
        begun = state.become(TaskStatus.HELD if is_held else TaskStatus.RELEASED)
        self.put(place, begun.in_round(release.round, items=len(release.items or ())))
        self.releases[place] = release
