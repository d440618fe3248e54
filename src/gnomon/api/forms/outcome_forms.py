"""How an attempt ended, as a worker says it over HTTP: from its word and the fields that count with it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from msgspec import UNSET

from gnomon.client.remote.worker_protocol import Completion
from gnomon.core.executions.execution import Failure
from gnomon.core.executions.lifecycle import (
    Cancelled,
    Failed,
    Outcome,
    Released,
    Snoozed,
    Succeeded,
    TimedOut,
)
from gnomon.core.values.document import Document
from gnomon.core.values.instants import parse_seconds
from gnomon.core.values.limits import RESULT_BYTES_MAX

OUTCOMES: dict[str, Callable[[Completion], Outcome]] = {
    "succeeded": lambda one: Succeeded(
        None if one.result is UNSET else Document.of(one.result, field="result", bytes_max=RESULT_BYTES_MAX)
    ),
    "failed": lambda one: Failed(
        Failure(one.error_kind or "failed", one.error_message or "It failed."),
        one.permanent,
        _seconds(one.retry_after_seconds, "retry_after_seconds"),
    ),
    "timed_out": lambda _: TimedOut(),
    "cancelled": lambda _: Cancelled(),
    "snoozed": lambda one: Snoozed(
        _seconds(one.delay_seconds, "delay_seconds") or timedelta(0), one.has_started, _lacks(one)
    ),
    "released": lambda one: Released(one.has_started),
}


def outcome_of(one: Completion) -> Outcome:
    return OUTCOMES[one.outcome](one)


def _lacks(one: Completion) -> Failure | None:
    return None if one.error_message is None else Failure(one.error_kind or "not_here", one.error_message)


def _seconds(value: float | None, field: str) -> timedelta | None:
    return None if value is None else parse_seconds(value, field=field)
