"""What a workflow is: tasks, what each waits for, and what becomes of the rest when one fails.

A `Workflow` is what somebody wrote. A `Plan` is the same, checked and numbered: immutable, made once for a
revision and safe to keep for ever. Runs are pinned to it. `core/workflows/document.py` says how it is written
down, `core/runs/decisions.py` what a run of it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias

from gnomon.core.jobs.job import Definition
from gnomon.core.values.choices import Choice
from gnomon.core.values.document import Document, check_name
from gnomon.core.values.instants import check_duration
from gnomon.core.workflows.graph import Graph, GraphLimits
from gnomon.core.workflows.references import Condition, Reference, Source, is_template, references
from gnomon.core.workflows.trigger_rules import TriggerRule
from gnomon.errors import InvalidDag, InvalidInput

ITEMS_DEFAULT, ITEMS_MAX = 1000, 10_000
CONDITIONS_MAX = 32
READS_MAX = 100  # Results that one task reads: all of them are in memory when it begins.
HOLD_MIN, HOLD_MAX = timedelta(seconds=1), timedelta(days=366)
NESTING_MAX = 8  # A workflow that starts itself ends here.


class FailureStrategy(Choice):
    """What a failed task means for the rest of its run."""

    FAIL_FAST = "FAIL_FAST"  # The rest is cancelled.
    FAIL_DOWNSTREAM = "FAIL_DOWNSTREAM"  # What needs it does not run, and counts as failed for what follows.
    CONTINUE = "CONTINUE"  # What needs it does not run, and counts as skipped: joins of branches go on.
    PAUSE = "PAUSE"  # The run waits for a person, who retries, skips or fails the task.


# What a task does -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Execute:
    """Runs a handler, as a job does. Its schedule is that of the workflow, so it has none of its own."""

    definition: Definition


@dataclass(frozen=True, slots=True)
class SubDag:
    """Runs another workflow, with a configuration that may hold references, and ends as that run ends."""

    dag: str
    config: Document = field(default_factory=lambda: Document("{}"))

    def __post_init__(self) -> None:
        check_name(self.dag, field="dag")


@dataclass(frozen=True, slots=True)
class Approval:
    """Waits for a person."""

    timeout: timedelta | None = None

    def __post_init__(self) -> None:
        _check_timeout(self.timeout, field="approval.timeout_seconds")


@dataclass(frozen=True, slots=True)
class AwaitEvent:
    """Waits for an event of this name whose correlation is the same text. Its data is the result."""

    event: str
    correlation: str = ""
    timeout: timedelta | None = None

    def __post_init__(self) -> None:
        check_name(self.event, field="event.name")
        _check_timeout(self.timeout, field="event.timeout_seconds")


Work: TypeAlias = "Execute | SubDag | Approval | AwaitEvent"


@dataclass(frozen=True, slots=True)
class FanOut:
    """One execution for each item of a list. The task ends when the last of them has: it is its own join.

    Its result is the list of theirs, in the order of the items.
    """

    over: Reference
    items_max: int = ITEMS_DEFAULT

    def __post_init__(self) -> None:
        if self.over.source not in (Source.TASKS, Source.CONFIG):
            raise InvalidInput("fan_out.over", "must refer to a result or to the configuration.")
        if type(self.items_max) is not int or not 1 <= self.items_max <= ITEMS_MAX:
            raise InvalidInput("fan_out.limit", f"must be a whole number from 1 to {ITEMS_MAX}.")


@dataclass(frozen=True, slots=True)
class Task:
    name: str
    work: Work
    depends_on: tuple[str, ...] = ()
    rule: TriggerRule = TriggerRule.ALL_SUCCESS
    conditions: tuple[Condition, ...] = ()
    fan_out: FanOut | None = None

    def __post_init__(self) -> None:
        check_name(self.name, field="name")
        if not self.depends_on and self.rule in (TriggerRule.ONE_SUCCESS, TriggerRule.ONE_FAILED):
            raise InvalidInput("trigger_rule", f"{self.rule} needs something to depend on.")
        if len(self.conditions) > CONDITIONS_MAX:
            raise InvalidInput("condition", f"more than {CONDITIONS_MAX}.")
        if self.fan_out is not None and not isinstance(self.work, Execute):
            raise InvalidInput("fan_out", "is for tasks that run a handler.")

    def reads(self) -> Iterator[tuple[str, Reference]]:
        """Every reference, with the field that holds it."""
        for condition in self.conditions:
            yield "condition", condition.reference
        if self.fan_out is not None:
            yield "fan_out.over", self.fan_out.over
        for place, text in self.templates():
            if "${" not in text.text:
                continue
            for reference in references(text.value, field=place):
                yield place, reference

    def templates(self) -> Iterator[tuple[str, Document]]:
        match self.work:
            case Execute(definition):
                yield "payload", definition.payload
            case SubDag(config=config):
                yield "config", config
            case AwaitEvent(correlation=correlation):
                yield "event.correlation", Document.of(correlation, field="event.correlation")
            case Approval():
                pass


@dataclass(frozen=True, slots=True)
class Workflow:
    tasks: tuple[Task, ...]
    failure_strategy: FailureStrategy = FailureStrategy.FAIL_DOWNSTREAM
    allow_partial_completion: bool = False
    config: Document = field(default_factory=lambda: Document("{}"))
    timezone: str = "UTC"  # Of its schedule: whose day it is for.


# What is kept of it ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked workflow. Tasks are known by their place in it."""

    workflow: Workflow
    graph: Graph
    # For each task, the places of the tasks whose results it reads: what to load before it begins.
    reads: tuple[frozenset[int], ...]
    is_template: tuple[bool, ...]

    @classmethod
    def of(cls, workflow: Workflow, limits: GraphLimits | None = None) -> Plan:
        """Raises InvalidDag, or InvalidInput that names the task and the field."""
        graph = Graph.of([(task.name, task.depends_on) for task in workflow.tasks], limits)
        read = [_checked_reads(task, graph.places) for task in workflow.tasks]
        reads = tuple(frozenset(sources) for sources, _ in read)
        for reader, source in graph.strangers(dict(enumerate(reads))):
            name, other = graph.names[reader], graph.names[source]
            raise InvalidDag(
                "not_an_ancestor",
                field=f"tasks.{name}",
                reason=f"reads the result of {other!r}, which need not have ended by then; depend on it.",
                task=name,
            )
        return cls(workflow, graph, reads, tuple(is_template for _, is_template in read))

    def task(self, place: int) -> Task:
        return self.workflow.tasks[place]


def _checked_reads(task: Task, places: Mapping[str, int]) -> tuple[set[int], bool]:
    """The tasks whose results it reads, and whether its payload is to be rendered."""
    sources = set()
    try:
        for place, reference in task.reads():
            if reference.source in (Source.ITEM, Source.INDEX) and (
                task.fan_out is None or place != "payload"
            ):
                raise InvalidInput(
                    place, f"{reference.source} stands for the item of a fan-out; there is none."
                )
            if reference.task is None:
                continue
            if reference.task not in places:
                raise InvalidDag(
                    "unknown_node",
                    field=place,
                    reason=f"there is no task {reference.task!r}.",
                    task=task.name,
                )
            sources.add(places[reference.task])
        if len(sources) > READS_MAX:
            raise InvalidInput("payload", f"reads more than {READS_MAX} results; let a fan-out join them.")
    except InvalidInput as error:
        raise of_task(task.name, error) from None
    return sources, any(is_template(document.text) for _, document in task.templates())


def of_task(name: str, error: InvalidInput) -> InvalidInput:
    """The same refusal, with the task in its field."""
    if isinstance(error, InvalidDag):
        error.task = name
    return error.at(f"tasks.{name}.{error.field}")


def _check_timeout(timeout: timedelta | None, *, field: str) -> None:
    if timeout is not None:
        check_duration(timeout, field=field, low=HOLD_MIN, high=HOLD_MAX)
