"""The fields that a definition of a workflow may have. Unknown ones are refused."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gnomon.core.jobs.job import PRIORITY_DEFAULT
from gnomon.core.jobs.retry import CRASH_LIMIT, Backoff
from gnomon.core.values.choices import allowed, beside, fields_at, one_of
from gnomon.core.workflows.references import Comparison
from gnomon.core.workflows.trigger_rules import TriggerRule
from gnomon.core.workflows.workflow import ITEMS_DEFAULT, FailureStrategy
from gnomon.errors import InvalidInput

Read = TypeVar("Read")

_PLACE = re.compile(r"(?P<what>.*?)(?: - at `\$(?P<where>.*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`", re.DOTALL)


class Strict(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class RetryForm(Strict, frozen=True):
    max_attempts: int | None = None
    max_retries: int | None = None
    backoff: Backoff = Backoff.EXPONENTIAL
    backoff_seconds: float | None = None
    initial_delay_seconds: float | None = None
    backoff_multiplier: float = 2.0
    max_backoff_seconds: float = 3600
    jitter: float = 0.1
    retry_on: frozenset[str] | None = None
    crash_limit: int = CRASH_LIMIT


class ConditionForm(Strict, frozen=True):
    value_of: str
    is_: Comparison = msgspec.field(name="is", default=Comparison.EQUAL)
    value: Any = None


class FanOutForm(Strict, frozen=True):
    over: str
    limit: int = ITEMS_DEFAULT


class ApprovalForm(Strict, frozen=True):
    timeout_seconds: float | None = None


class EventForm(Strict, frozen=True):
    name: str
    correlation: str = ""
    timeout_seconds: float | None = None


class TaskForm(Strict, frozen=True, kw_only=True):
    name: str
    kind: str | None = None
    payload: Any = msgspec.field(default_factory=dict)
    depends_on: list[str] | None = None
    dependencies: list[str] | None = None
    trigger_rule: TriggerRule = TriggerRule.ALL_SUCCESS
    condition: ConditionForm | list[ConditionForm] | None = None
    fan_out: FanOutForm | None = None
    timeout_seconds: float | UnsetType | None = UNSET  # None: as long as it takes.
    max_retries: int | None = None
    retry_policy: RetryForm | None = None
    retry_config: RetryForm | None = None
    queue: str = "default"
    priority: int = PRIORITY_DEFAULT
    capabilities: frozenset[str] = frozenset()
    dag: str | None = None
    config: Any = UNSET
    approval: ApprovalForm | None = None
    event: EventForm | None = None


class DagForm(Strict, frozen=True, kw_only=True):
    name: str
    tasks: list[Any]
    cron_expression: str | None = None
    timezone: str | UnsetType = UNSET
    schedule: dict[str, Any] | None = None
    failure_strategy: FailureStrategy = FailureStrategy.FAIL_DOWNSTREAM
    allow_partial_completion: bool = False
    config: Any = msgspec.field(default_factory=dict)
    tags: frozenset[str] = frozenset()
    allow_unknown_kind: bool = False


def converted(document: object, shape: type[Read], *, noun: str) -> Read:
    try:
        return msgspec.convert(document, shape)
    except UnicodeEncodeError:  # In the name of a field, or in a word of a choice.
        raise InvalidInput(noun.split()[-1], "holds a lone surrogate, which is not text.") from None
    except msgspec.ValidationError as error:
        found = _PLACE.fullmatch(str(error))
        assert found is not None
        what, where = found["what"], (found["where"] or "").lstrip(".")
        if unknown := _UNKNOWN.fullmatch(what):
            name = unknown["name"]
            reason = f"is not a field of {noun}.{beside(name, fields_at(shape, where))}"
            raise InvalidInput(_inside(where, name), reason) from None
        if missing := _MISSING.fullmatch(what):
            raise InvalidInput(_inside(where, missing["name"]), f"is missing; {noun} needs it.") from None
        what = f"{what[:1].lower()}{what[1:]}{one_of(allowed(shape, where))}."
        raise InvalidInput(where or noun.split()[-1], what) from None


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
