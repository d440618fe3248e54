"""A workflow as somebody writes it down: one JSON object, or YAML that was read into the same values.

Unknown fields are refused, so that a slip of the pen is not silently ignored. Where a field has two names in
use, both are read: `depends_on` and `dependencies`, `retry_policy` and `retry_config`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gnomon.core import schedule_document
from gnomon.core.document import JSON, Document, check_name
from gnomon.core.graph import GraphLimits
from gnomon.core.instants import parse_seconds
from gnomon.core.job import PRIORITY_DEFAULT, Definition
from gnomon.core.reference import Comparison, Condition, Reference, references
from gnomon.core.retry import Backoff, RetryPolicy
from gnomon.core.schedule import CronTiming, Schedule
from gnomon.core.trigger_rule import TriggerRule
from gnomon.core.workflow import (
    ITEMS_DEFAULT,
    Approval,
    AwaitEvent,
    Execute,
    FailureStrategy,
    FanOut,
    SubDag,
    Task,
    Work,
    Workflow,
    of_task,
)
from gnomon.errors import InvalidInput

Read = TypeVar("Read")

_PLACE = re.compile(r"(?P<what>.*?)(?: - at `\$(?P<where>.*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`", re.DOTALL)


class _Strict(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class _Retry(_Strict, frozen=True):
    max_attempts: int | None = None
    max_retries: int | None = None
    backoff: Backoff = Backoff.EXPONENTIAL
    backoff_seconds: float = 60
    backoff_multiplier: float = 2.0
    max_backoff_seconds: float = 3600
    jitter: float = 0.1
    retry_on: frozenset[str] | None = None


class _Condition(_Strict, frozen=True):
    value_of: str
    is_: Comparison = msgspec.field(name="is", default=Comparison.EQUAL)
    value: Any = None


class _FanOut(_Strict, frozen=True):
    over: str
    limit: int = ITEMS_DEFAULT


class _Approval(_Strict, frozen=True):
    timeout_seconds: float | None = None


class _AwaitEvent(_Strict, frozen=True):
    name: str
    correlation: str = ""
    timeout_seconds: float | None = None


class _Task(_Strict, frozen=True, kw_only=True):
    name: str
    kind: str | None = None
    payload: Any = msgspec.field(default_factory=dict)
    depends_on: list[str] | None = None
    dependencies: list[str] | None = None
    trigger_rule: TriggerRule = TriggerRule.ALL_SUCCESS
    condition: _Condition | list[_Condition] | None = None
    fan_out: _FanOut | None = None
    timeout_seconds: float | None = None
    max_retries: int | None = None
    retry_policy: _Retry | None = None
    retry_config: _Retry | None = None
    queue: str = "default"
    priority: int = PRIORITY_DEFAULT
    capabilities: frozenset[str] = frozenset()
    dag: str | None = None
    config: Any = UNSET
    approval: _Approval | None = None
    event: _AwaitEvent | None = None


class _Dag(_Strict, frozen=True, kw_only=True):
    name: str
    tasks: list[Any]
    cron_expression: str | None = None
    timezone: str | UnsetType = UNSET
    schedule: dict[str, Any] | None = None
    failure_strategy: FailureStrategy = FailureStrategy.FAIL_DOWNSTREAM
    allow_partial_completion: bool = False
    config: Any = msgspec.field(default_factory=dict)
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class WrittenDag:
    """What a definition says: the name, when it runs, and what then happens."""

    name: str
    schedule: Schedule
    workflow: Workflow
    tags: frozenset[str] = frozenset()


def read_dag(document: object, limits: GraphLimits | None = None) -> WrittenDag:
    """Read a definition. Raises InvalidInput that names the task, the field and the reason.

    With limits, what is too large is refused before it is looked at closely.
    """
    dag = _converted(document, _Dag, noun="a workflow")
    check_name(dag.name, field="name")
    if limits is not None:
        limits.check(len(dag.tasks), sum(map(_edges, dag.tasks)))
    workflow = Workflow(
        tasks=tuple(_task(task, place) for place, task in enumerate(dag.tasks)),
        failure_strategy=dag.failure_strategy,
        allow_partial_completion=dag.allow_partial_completion,
        config=_object(dag.config, field="config"),
    )
    return WrittenDag(dag.name, _schedule(dag), workflow, dag.tags)


def _edges(task: object) -> int:
    lists = [task.get("depends_on"), task.get("dependencies")] if isinstance(task, Mapping) else []
    return sum(len(one) for one in lists if isinstance(one, list))


def _schedule(dag: _Dag) -> Schedule:
    if dag.schedule is not None:
        if dag.cron_expression is not None or dag.timezone is not UNSET:
            raise InvalidInput("schedule", "stands alone, without `cron_expression` and `timezone`.")
        return schedule_document.from_document(dag.schedule)
    if dag.cron_expression is None:
        return Schedule()
    return Schedule(CronTiming(dag.cron_expression, "UTC" if dag.timezone is UNSET else dag.timezone))


def _task(document: object, place: int) -> Task:
    name = document.get("name") if isinstance(document, Mapping) else None
    try:
        written = _converted(document, _Task, noun="a task")
        return Task(
            written.name,
            _work(written),
            _either(written.depends_on, written.dependencies, names="depends_on, dependencies") or (),
            written.trigger_rule,
            _conditions(written.condition),
            _fan_out(written.fan_out),
        )
    except InvalidInput as error:
        raise of_task(name if isinstance(name, str) and name.strip() else str(place), error) from None


def _work(task: _Task) -> Work:
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
            timeout=_duration(task.timeout_seconds, field="timeout_seconds"),
        )
    )


def _kind(task: _Task) -> str:
    """A payload that says what to do says by whom: `{"action": "extract_data"}` is of that kind."""
    action = task.payload.get("action") if isinstance(task.payload, dict) else None
    kind = task.kind if task.kind is not None else action
    if not isinstance(kind, str):
        raise InvalidInput("kind", "is missing; say what runs it, here or as `action` of the payload.")
    return kind


def _retry(task: _Task) -> RetryPolicy:
    policies = [policy for policy in (task.retry_policy, task.retry_config) if policy is not None]
    if len(policies) > 1:
        raise InvalidInput("retry_config", "is another name for retry_policy; give one of them.")
    said = policies[0] if policies else _Retry()
    attempts = {
        name: value
        for name, value in (
            ("max_retries", None if task.max_retries is None else task.max_retries + 1),
            ("retry_policy.max_retries", None if said.max_retries is None else said.max_retries + 1),
            ("retry_policy.max_attempts", said.max_attempts),
        )
        if value is not None
    }
    if len(set(attempts.values())) > 1:
        raise InvalidInput(next(iter(attempts)), f"disagrees with {', '.join(list(attempts)[1:])}.")
    return RetryPolicy(
        max_attempts=next(iter(attempts.values()), RetryPolicy().max_attempts),
        backoff=said.backoff,
        backoff_base=parse_seconds(said.backoff_seconds, field="retry_policy.backoff_seconds"),
        multiplier=said.backoff_multiplier,
        backoff_max=parse_seconds(said.max_backoff_seconds, field="retry_policy.max_backoff_seconds"),
        jitter=said.jitter,
        retry_on=said.retry_on,
    )


def _conditions(written: _Condition | list[_Condition] | None) -> tuple[Condition, ...]:
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


def _fan_out(written: _FanOut | None) -> FanOut | None:
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


def _duration(seconds: float | None, *, field: str) -> timedelta | None:
    return None if seconds is None else parse_seconds(seconds, field=field)


def _object(value: JSON, *, field: str) -> Document:
    if not isinstance(value, dict):
        raise InvalidInput(field, f"must be an object, not {type(value).__name__}.")
    return Document.of(value, field=field)


def _converted(document: object, shape: type[Read], *, noun: str) -> Read:
    try:
        return msgspec.convert(document, shape)
    except msgspec.ValidationError as error:
        found = _PLACE.fullmatch(str(error))
        assert found is not None
        what, where = found["what"], (found["where"] or "").lstrip(".")
        if unknown := _UNKNOWN.fullmatch(what):
            raise InvalidInput(_inside(where, unknown["name"]), f"is not a field of {noun}.") from None
        if missing := _MISSING.fullmatch(what):
            raise InvalidInput(_inside(where, missing["name"]), f"is missing; {noun} needs it.") from None
        raise InvalidInput(where or noun.split()[-1], f"{what[:1].lower()}{what[1:]}.") from None


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
