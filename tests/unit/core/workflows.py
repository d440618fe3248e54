"""Workflows for the stories in this folder, and the smallest thing that applies what the core decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gnomon.core.jobs.job import Definition
from gnomon.core.runs.decisions import after
from gnomon.core.runs.events import Changes, Ended, Event, Needs, Release, Started, State
from gnomon.core.runs.state import SWEPT, RunState, RunStatus, TaskState, TaskStatus, born
from gnomon.core.values.document import JSON, Document
from gnomon.core.workflows.references import Comparison, Condition, Reference, Source
from gnomon.core.workflows.trigger_rules import TriggerRule
from gnomon.core.workflows.workflow import Execute, FailureStrategy, FanOut, Plan, Task, Work, Workflow
from tests.unit.core.builders import NOON


def task(
    name: str,
    *depends_on: str,
    rule: TriggerRule = TriggerRule.ALL_SUCCESS,
    payload: JSON = None,
    work: Work | None = None,
    conditions: Sequence[Condition] = (),
    fan_out: FanOut | None = None,
) -> Task:
    given = Document.of({} if payload is None else payload, field="payload")
    return Task(
        name, work or Execute(Definition("dummy", given)), depends_on, rule, tuple(conditions), fan_out
    )


def result_is(name: str, value: JSON) -> Condition:
    return Condition(Reference(Source.TASKS, name), Comparison.EQUAL, value)


def over(name: str, *, items_max: int = 1000) -> FanOut:
    return FanOut(Reference(Source.TASKS, name), items_max)


def plan_of(
    *tasks: Task, strategy: FailureStrategy = FailureStrategy.FAIL_DOWNSTREAM, partial: bool = False
) -> Plan:
    return Plan.of(Workflow(tasks, strategy, allow_partial_completion=partial))


@dataclass
class Bench:
    """Rows in memory, loaded and written exactly as the docstrings ask of a store. Counts what that costs."""

    plan: Plan
    config: JSON = None
    nesting: int = 0
    run: RunState = field(init=False)
    rows: dict[int, TaskState] = field(init=False)
    # By task and round.
    kept: dict[tuple[int, int], Document] = field(default_factory=dict)
    results: dict[tuple[int, int], Document | None] = field(default_factory=dict)
    item_results: dict[tuple[int, int], dict[int, Document | None]] = field(default_factory=dict)
    live: dict[tuple[int, int | None], int] = field(default_factory=dict)  # (task, item) to round.
    begun: list[Release] = field(default_factory=list)
    loaded: int = 0
    written: int = 0
    questions: int = 0
    ends: int = 0

    def __post_init__(self) -> None:
        overrides = None if self.config is None else Document.of(self.config, field="config")
        self.run, rows = born(self.plan, overrides=overrides, nesting=self.nesting)
        self.rows = dict(enumerate(rows))

    def run_status(self) -> RunStatus:
        return self.run.status

    def start(self) -> Bench:
        self.send(Started())
        return self

    def send(self, *events: Event) -> Changes:
        self._keep(events)
        tasks: dict[int, TaskState] = {}
        results: dict[int, Document | None] = {}
        while isinstance(
            answer := after(self.plan, State(self.run, tasks, results), events, now=NOON), Needs
        ):
            assert answer.tasks or answer.results
            assert not (answer.tasks | answer.ahead) & tasks.keys()
            assert not answer.results & results.keys()
            self.questions += 1
            self.loaded += len(answer.tasks | answer.ahead) + len(answer.results)
            tasks |= {place: self.rows[place] for place in answer.tasks | answer.ahead}
            results |= {place: self.result(place) for place in answer.results}
        self._apply(answer)
        return answer

    def result(self, place: int) -> Document | None:
        if self.rows[place].status not in (TaskStatus.COMPLETED, TaskStatus.RELEASED):
            return None
        key = place, self.rows[place].round
        if key in self.kept:
            return self.kept[key]
        if key in self.item_results:
            items = self.item_results[key]
            value = [document.value if document else None for _, document in sorted(items.items())]
            return Document.of(value, field="result")
        return self.results.get(key)

    def _keep(self, events: Sequence[Event]) -> None:
        """The end of an execution is fenced: it is kept only if it is the one that is live."""
        for event in events:
            if isinstance(event, Ended) and self.live.get((event.task, event.item)) == event.round:
                del self.live[event.task, event.item]
                key = event.task, event.round
                if event.item is None:
                    self.results[key] = event.result
                else:
                    self.item_results.setdefault(key, {})[event.item] = event.result

    def _apply(self, changes: Changes) -> None:
        self.written += len(changes.tasks)
        self.run = changes.run
        self.rows |= changes.tasks
        self.kept |= {(place, self.rows[place].round): kept for place, kept in changes.results.items()}
        self.ends += changes.has_ended
        if changes.sweep:
            for place, row in self.rows.items():
                if row.status in SWEPT:
                    self.rows[place] = row.become(TaskStatus.CANCELLED)
        for release in changes.releases:
            self.begun.append(release)
            if self.rows[release.task].status is TaskStatus.RELEASED:
                items = [None] if release.items is None else range(len(release.items))
                self.live |= {(release.task, item): release.round for item in items}

    # In words ----------------------------------------------------------------------------------------

    def place(self, name: str) -> int:
        return self.plan.graph.places[name]

    def status(self, name: str) -> TaskStatus:
        return self.rows[self.place(name)].status

    def statuses(self) -> dict[str, str]:
        return {name: self.status(name).value for name in self.plan.graph.names}

    def ended(self, name: str, status: TaskStatus, result: JSON = None, item: int | None = None) -> Ended:
        place = self.place(name)
        document = None if result is None else Document.of(result, field="result")
        return Ended(place, self.rows[place].round, status, document, item)

    def succeed(self, *names: str, result: JSON = None) -> None:
        for name in names:
            self.send(self.ended(name, TaskStatus.COMPLETED, result))

    def fail(self, name: str) -> None:
        self.send(self.ended(name, TaskStatus.FAILED))

    def payload(self, name: str) -> JSON:
        """What the task was begun with, last."""
        last = [release for release in self.begun if release.task == self.place(name)][-1]
        return None if last.payload is None else last.payload.value
