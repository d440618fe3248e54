"""Whether to try again, and how long to wait before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from gnomon.core.values.choices import Choice
from gnomon.core.values.document import JSON, check_name
from gnomon.core.values.instants import check_duration
from gnomon.errors import InvalidInput

ATTEMPTS_MAX = 1000
CRASH_LIMIT = 3
CRASH_LIMIT_MIN = 2  # The first crash proves nothing: anything beside it may have been the cause.
CRASH_LIMIT_MAX = 1000
BACKOFF_MAX = timedelta(days=7)
MULTIPLIER_MAX = 100
RETRY_ON_MAX = 64
_POWER_MAX = 64  # 2**64 seconds is past every cap; keeps the power small and the float finite.


class Backoff(Choice):
    FIXED = "fixed"
    EXPONENTIAL = "exponential"


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how soon a failed execution is tried again.

    `max_attempts` counts all tries, the first one too. `retry_on` names the error kinds that are worth
    another try; None means all of them. `crash_limit` is how many times in a row its worker may die.
    """

    max_attempts: int = 3
    backoff: Backoff = Backoff.EXPONENTIAL
    backoff_base: timedelta = timedelta(seconds=60)
    multiplier: float = 2.0
    backoff_max: timedelta = timedelta(hours=1)
    jitter: float = 0.1
    retry_on: frozenset[str] | None = None
    crash_limit: int = CRASH_LIMIT

    def __post_init__(self) -> None:
        _check_whole("retry_policy.max_attempts", self.max_attempts, 1, ATTEMPTS_MAX)
        if not isinstance(self.backoff, Backoff):
            raise InvalidInput(
                "retry_policy.backoff", f"{self.backoff!r} is not one of {', '.join(Backoff)}."
            )
        for field, wait in (
            ("backoff_seconds", self.backoff_base),
            ("max_backoff_seconds", self.backoff_max),
        ):
            check_duration(wait, field=f"retry_policy.{field}", low=timedelta(0), high=BACKOFF_MAX)
        _check_number("retry_policy.backoff_multiplier", self.multiplier, 1, MULTIPLIER_MAX)
        _check_number("retry_policy.jitter", self.jitter, 0, 1)
        _check_whole("retry_policy.crash_limit", self.crash_limit, CRASH_LIMIT_MIN, CRASH_LIMIT_MAX)
        if self.retry_on is not None:
            if len(self.retry_on) > RETRY_ON_MAX:
                raise InvalidInput("retry_policy.retry_on", f"more than {RETRY_ON_MAX} error kinds.")
            for kind in self.retry_on:
                check_name(kind, field="retry_policy.retry_on")

    def retries(self, error_kind: str) -> bool:
        return self.retry_on is None or error_kind in self.retry_on


def to_document(policy: RetryPolicy) -> dict[str, JSON]:
    """A JSON object from which `from_document` makes an equal policy. Durations are seconds."""
    return {
        "max_attempts": policy.max_attempts,
        "backoff": policy.backoff.value,
        "backoff_seconds": policy.backoff_base.total_seconds(),
        "backoff_multiplier": policy.multiplier,
        "max_backoff_seconds": policy.backoff_max.total_seconds(),
        "jitter": policy.jitter,
        "retry_on": None if policy.retry_on is None else list[JSON](sorted(policy.retry_on)),
        "crash_limit": policy.crash_limit,
    }


def from_document(document: Mapping[str, Any]) -> RetryPolicy:
    return RetryPolicy(
        max_attempts=document["max_attempts"],
        backoff=Backoff(document["backoff"]),
        backoff_base=timedelta(seconds=document["backoff_seconds"]),
        multiplier=document["backoff_multiplier"],
        backoff_max=timedelta(seconds=document["max_backoff_seconds"]),
        jitter=document["jitter"],
        retry_on=None if document["retry_on"] is None else frozenset(document["retry_on"]),
        crash_limit=document.get("crash_limit", CRASH_LIMIT),  # Older releases kept none.
    )


def backoff(policy: RetryPolicy, attempts: int, *, jitter: float) -> timedelta:
    """The wait after `attempts` charged attempts: within ±policy.jitter of the curve, never above the cap.

    `jitter` is a number in [0, 1) drawn by the caller, so this stays a pure function.
    """
    assert attempts >= 1
    assert 0.0 <= jitter < 1.0

    wait = policy.backoff_base
    if policy.backoff is Backoff.EXPONENTIAL:
        # Compare in floats first: a timedelta overflows long before a float does.
        factor = policy.multiplier ** min(attempts - 1, _POWER_MAX)
        wait = min(wait.total_seconds() * factor, policy.backoff_max.total_seconds()) * timedelta(seconds=1)
    spread = 1 + policy.jitter * (2 * jitter - 1)
    return min(wait * spread, policy.backoff_max)


def _check_whole(field: str, value: object, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise InvalidInput(field, f"{value!r} is not a whole number from {low} to {high}.")


def _check_number(field: str, value: object, low: int, high: int) -> None:
    if type(value) not in (int, float) or not low <= value <= high:  # type: ignore[operator]
        raise InvalidInput(field, f"{value!r} is not a number from {low} to {high}.")
