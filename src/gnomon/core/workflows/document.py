"""A workflow as somebody writes it down: one JSON object, or YAML that was read into the same values.

Unknown fields are refused, so that a slip of the pen is not silently ignored. Where a field has two names in
use, both are read: `depends_on` and `dependencies`, `retry_policy` and `retry_config`, and those of jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from msgspec import UNSET, UnsetType

from gnomon.core.jobs.job import DAG_KIND, Definition
from gnomon.core.jobs.retry import ATTEMPTS_MAX, RetryPolicy
from gnomon.core.time import schedule_document, zones
from gnomon.core.time.schedule import CronTiming, Schedule
from gnomon.core.values.document import JSON, Document, check_name
from gnomon.core.values.instants import parse_seconds
from gnomon.core.workflows.forms import (
    ConditionForm,
    DagForm,
    FanOutForm,
    RetryForm,
    TaskForm,
    converted,
)
from gnomon.core.workflows.graph import GraphLimits
from gnomon.core.workflows.references import Condition, Reference, references
from gnomon.core.workflows.sense import check_sense
from gnomon.core.workflows.workflow import (
    Approval,
    AwaitEvent,
    Execute,
    FanOut,
    SubDag,
    Task,
    Work,
    Workflow,
    of_task,
)
from gnomon.errors import InvalidInput

Check: TypeAlias = Callable[[TaskForm], None]

# Of a task that says nothing about it. One that may take as long as it likes says null.
TIMEOUT_DEFAULT = timedelta(hours=1)
_NOTHING_SAID = TaskForm(name="")
_OF_HANDLERS = (
    "payload", "timeout_seconds", "max_retries", "retry_policy", "retry_config", "queue", "priority",
    "capabilities",
)  # fmt: skip
# What a task may be instead, and where it says what a handler is told elsewhere.
_INSTEAD: dict[str, dict[str, str]] = {
    "dag": {"payload": "`config`"},
    "approval": {"timeout_seconds": "`approval.timeout_seconds`"},
    "event": {"timeout_seconds": "`event.timeout_seconds`"},
}


@dataclass(frozen=True, slots=True)
class WrittenDag:
    """What a definition says: the name, when it runs, and what then happens."""

    name: str
    schedule: Schedule
    workflow: Workflow
    tags: frozenset[str] = frozenset()
    allow_unknown_kind: bool = False  # No worker that runs now has to know the kinds of its tasks.


def read_dag(document: object, limits: GraphLimits | None = None) -> WrittenDag:
    """Read a definition. Raises InvalidInput that names the task, the field and the reason.

    With limits, what is too large is refused before it is looked at closely.
    """
    dag = converted(document, DagForm, noun="a workflow")
    check_name(dag.name, field="name")
    if limits is not None:
        limits.check(len(dag.tasks), sum(map(_edges, dag.tasks)))
    workflow = _workflow(dag, check=_check_use)
    check_sense(workflow)
    return WrittenDag(dag.name, _schedule(dag), workflow, dag.tags, dag.allow_unknown_kind)


def read_workflow(document: object) -> Workflow:
    """What a definition that was kept says to do. When it runs may be lost: time zones come and go."""
    return _workflow(converted(document, DagForm, noun="a workflow"), check=_accept)


def _accept(_: TaskForm) -> None:
    """What was kept was checked by the rules of its day."""


def _workflow(dag: DagForm, *, check: Check) -> Workflow:
    said = dag.timezone if dag.schedule is None else dag.schedule.get("timezone")
    return Workflow(
        tasks=tuple(_task(task, place, check) for place, task in enumerate(dag.tasks)),
        failure_strategy=dag.failure_strategy,
        allow_partial_completion=dag.allow_partial_completion,
        config=_object(dag.config, field="config"),
        timezone=said if isinstance(said, str) else "UTC",
    )


def _edges(task: object) -> int:
    lists = [task.get("depends_on"), task.get("dependencies")] if isinstance(task, Mapping) else []
    return sum(len(one) for one in lists if isinstance(one, list))


def _schedule(dag: DagForm) -> Schedule:
    if dag.schedule is not None:
        if dag.cron_expression is not None or dag.timezone is not UNSET:
            raise InvalidInput("schedule", "stands alone, without `cron_expression` and `timezone`.")
        try:
            return schedule_document.from_words(dag.schedule)
        except InvalidInput as error:
            raise error.at(f"schedule.{error.field}") from None
    timezone = "UTC" if dag.timezone is UNSET else dag.timezone
    zones.zone(timezone)  # Also where there is no cron: it says whose day `${run.day}` is.
    if dag.cron_expression is None:
        return Schedule()
    try:
        return Schedule(CronTiming(dag.cron_expression, timezone))
    except InvalidInput as error:
        raise error.at("cron_expression") from None


def _task(document: object, place: int, check: Check) -> Task:
    name = document.get("name") if isinstance(document, Mapping) else None
    try:
        written = converted(document, TaskForm, noun="a task")
        check(written)
        return Task(
            written.name,
            _work(written),
            _either(written.depends_on, written.dependencies, names="depends_on, dependencies") or (),
            written.trigger_rule,
            _conditions(written.condition),
            _fan_out(written.fan_out),
        )
    except InvalidInput as error:
        if isinstance(name, str) and name.strip():
            raise of_task(name, error) from None
        raise error.at(f"tasks[{place}].{error.field}") from None


def _check_use(task: TaskForm) -> None:
    """Refuse what would be silently ignored, or fail every run."""
    for word, hints in _INSTEAD.items():
        if getattr(task, word) is None:
            continue
        for name in _OF_HANDLERS:
            said = getattr(task, name)
            if said is not None and said != getattr(_NOTHING_SAID, name):
                hint = f" Say it in {hints[name]}." if name in hints else ""
                raise InvalidInput(name, f"is for a task with `kind`; this one has `{word}`.{hint}")
        return
    if _kind(task).lower() == DAG_KIND:
        raise InvalidInput("kind", f"{DAG_KIND!r} is for workflows; name the one to run by `dag`.")


def _work(task: TaskForm) -> Work:
    kinds = [name for name in ("kind", "dag", "approval", "event") if getattr(task, name) is not None]
    if len(kinds) > 1:
        raise InvalidInput(
            kinds[1], f"a task has one of kind, dag, approval and event; this has {kinds[0]}, too."
        )
    if task.config is not UNSET and task.dag is None:
        raise InvalidInput("config", "is for a task with `dag`; others have a payload.")
    if task.dag is not None:
        config = {} if task.config is UNSET else task.config
        return SubDag(task.dag, _object(config, field="config"))
    if task.approval is not None:
        return Approval(_duration(task.approval.timeout_seconds, field="approval.timeout_seconds"))
    if task.event is not None:
        timeout = _duration(task.event.timeout_seconds, field="event.timeout_seconds")
        return AwaitEvent(task.event.name, task.event.correlation, timeout)
    return Execute(
        Definition(
            kind=_kind(task),
            payload=Document.of(task.payload, field="payload"),
            retry=_retry(task),
            queue=task.queue,
            capabilities=task.capabilities,
            priority=task.priority,
            timeout=_timeout(task),
        )
    )


def _kind(task: TaskForm) -> str:
    """A payload that says what to do says by whom: `{"action": "extract_data"}` is of that kind."""
    action = task.payload.get("action") if isinstance(task.payload, dict) else None
    kind = task.kind if task.kind is not None else action
    if not isinstance(kind, str):
        raise InvalidInput("kind", "is missing; say what runs it, here or as `action` of the payload.")
    return kind


def _retry(task: TaskForm) -> RetryPolicy:
    policies = [policy for policy in (task.retry_policy, task.retry_config) if policy is not None]
    if len(policies) > 1:
        raise InvalidInput("retry_config", "is another name for retry_policy; give one of them.")
    said = policies[0] if policies else RetryForm()
    policy = "retry_policy" if task.retry_config is None else "retry_config"
    retries = {"max_retries": task.max_retries, f"{policy}.max_retries": said.max_retries}
    attempts = {name: _attempts(count, field=name) for name, count in retries.items() if count is not None}
    if said.max_attempts is not None:
        attempts[f"{policy}.max_attempts"] = said.max_attempts
    if len(set(attempts.values())) > 1:
        raise InvalidInput(next(iter(attempts)), f"disagrees with {', '.join(list(attempts)[1:])}.")
    return RetryPolicy(
        max_attempts=next(iter(attempts.values()), RetryPolicy().max_attempts),
        backoff=said.backoff,
        backoff_base=_backoff_base(said),
        multiplier=said.backoff_multiplier,
        backoff_max=parse_seconds(said.max_backoff_seconds, field="retry_policy.max_backoff_seconds"),
        jitter=said.jitter,
        retry_on=said.retry_on,
        crash_limit=said.crash_limit,
    )


def _backoff_base(said: RetryForm) -> timedelta:
    word = "backoff_seconds" if said.initial_delay_seconds is None else "initial_delay_seconds"
    seconds = getattr(said, word)
    if seconds is None:
        return RetryPolicy().backoff_base
    if said.backoff_seconds not in (None, seconds):
        raise InvalidInput(f"retry_policy.{word}", "must be what `backoff_seconds` says.")
    return parse_seconds(seconds, field=f"retry_policy.{word}")


def _attempts(retries: int, *, field: str) -> int:
    if not 0 <= retries < ATTEMPTS_MAX:
        raise InvalidInput(field, f"{retries} is not a whole number from 0 to {ATTEMPTS_MAX - 1}.")
    return retries + 1


def _conditions(written: ConditionForm | list[ConditionForm] | None) -> tuple[Condition, ...]:
    if written is None:
        return ()
    every = written if isinstance(written, list) else [written]
    return tuple(
        Condition(
            _reference(one.value_of, field="condition.value_of"),
            one.is_,
            Document.of(one.value, field="condition.value").value,
        )
        for one in every
    )


def _fan_out(written: FanOutForm | None) -> FanOut | None:
    return None if written is None else FanOut(_reference(written.over, field="fan_out.over"), written.limit)


def _reference(text: str, *, field: str) -> Reference:
    found = list(references(text, field=field))
    if len(found) != 1 or not (text.startswith("${") and text.endswith("}")):
        raise InvalidInput(field, f"{text!r} is not one reference, such as ${{tasks.extract.result.rows}}.")
    return found[0]


def _either(one: list[str] | None, other: list[str] | None, *, names: str) -> tuple[str, ...] | None:
    if one is not None and other is not None:
        raise InvalidInput(names.partition(",")[0], f"has two names, {names}; give one of them.")
    said = one if one is not None else other
    return None if said is None else tuple(said)


def _timeout(task: TaskForm) -> timedelta | None:
    said = task.timeout_seconds
    return TIMEOUT_DEFAULT if isinstance(said, UnsetType) else _duration(said, field="timeout_seconds")


def _duration(seconds: float | None, *, field: str) -> timedelta | None:
    return None if seconds is None else parse_seconds(seconds, field=field)


def _object(value: JSON, *, field: str) -> Document:
    if not isinstance(value, dict):
        raise InvalidInput(field, f"must be an object, not {type(value).__name__}.")
    return Document.of(value, field=field)
