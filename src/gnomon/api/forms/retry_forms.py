"""Retry policies as callers write and get them: the words of both forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from msgspec import UNSET, UnsetType

from gnomon.api.forms.schedule_forms import Number, Text, Whole, given
from gnomon.api.forms.words import Words
from gnomon.core.jobs.retry import ATTEMPTS_MAX, CRASH_LIMIT, Backoff, RetryPolicy, to_document
from gnomon.core.values.choices import choice
from gnomon.core.values.forms import Form
from gnomon.core.values.instants import parse_seconds, whole
from gnomon.errors import InvalidInput

REMEMBERED = 4096  # Most jobs say the same about retries.

_FIELDS = {
    "max_attempts": "max_attempts",
    "backoff": "backoff",
    "backoff_seconds": "backoff_base",
    "backoff_multiplier": "multiplier",
    "max_backoff_seconds": "backoff_max",
    "jitter": "jitter",
    "retry_on": "retry_on",
    "crash_limit": "crash_limit",
}
_OTHER_WORDS = {"max_attempts": "max_retries", "backoff_seconds": "initial_delay_seconds"}


class Retry(Form):
    """`max_retries` is `max_attempts` less one; `initial_delay_seconds` is `backoff_seconds`."""

    max_attempts: Whole = UNSET
    max_retries: Whole = UNSET
    backoff: Text = UNSET
    backoff_seconds: Number = UNSET
    initial_delay_seconds: Number = UNSET
    backoff_multiplier: Number = UNSET
    max_backoff_seconds: Number = UNSET
    jitter: Number = UNSET
    retry_on: list[str] | UnsetType | None = UNSET
    crash_limit: Whole = UNSET


def retry_of(said: dict[str, Any], before: RetryPolicy) -> RetryPolicy:
    """The policy under `retry_config` or `retry_policy`, on top of the one before. Raises InvalidInput."""
    forms = [said[name] for name in ("retry_config", "retry_policy") if name in said]
    if len(forms) > 1:
        raise InvalidInput("retry_policy", "stands alone, without `retry_config`.")
    if not forms:
        return before
    if forms[0] is None:
        return RetryPolicy()
    wanted = _in_our_words(given(forms[0]))
    return replace(before, **{_FIELDS[name]: _read(name, value) for name, value in wanted.items()})


def words_of_retry(said: Mapping[str, Any]) -> Words:
    """How a caller calls what the core calls `retry_policy` and its fields."""
    words: Words = {}
    for name in ("retry_config", "retry_policy"):
        policy = said.get(name)
        if isinstance(policy, Retry):
            words["retry_policy"] = name
            for ours, theirs in _OTHER_WORDS.items():
                if getattr(policy, ours) is UNSET and getattr(policy, theirs) is not UNSET:
                    words[f"retry_policy.{ours}"] = f"{name}.{theirs}"
    return words


def _in_our_words(wanted: dict[str, Any]) -> dict[str, Any]:
    wanted = {name: value for name, value in wanted.items() if value is not None or name == "retry_on"}
    retries = wanted.pop("max_retries", None)
    if retries is not None and not 0 <= retries < ATTEMPTS_MAX:
        reason = f"{retries} is not a whole number from 0 to {ATTEMPTS_MAX - 1}."
        raise InvalidInput("retry_policy.max_retries", reason)
    if retries is not None and wanted.setdefault("max_attempts", retries + 1) != retries + 1:
        raise InvalidInput("retry_policy.max_retries", "must be one less than `max_attempts`.")
    delay = wanted.pop("initial_delay_seconds", None)
    if delay is not None and wanted.setdefault("backoff_seconds", delay) != delay:
        raise InvalidInput("retry_policy.initial_delay_seconds", "must be what `backoff_seconds` says.")
    return wanted


def _read(name: str, value: Any) -> Any:
    field = f"retry_policy.{name}"
    if name == "backoff":
        return choice(Backoff, value, field=field)
    if name.endswith("_seconds"):
        return parse_seconds(value, field=field)
    return frozenset(value) if name == "retry_on" and value is not None else value


@lru_cache(REMEMBERED)
def shown_retry(policy: RetryPolicy) -> dict[str, Any]:
    """Shared: nobody changes it."""
    return retry_words(to_document(policy))


def retry_words(document: Mapping[str, Any]) -> dict[str, Any]:
    """The union of what both forms call it, from the document of a policy."""
    base = whole(document["backoff_seconds"])
    return {
        "max_attempts": document["max_attempts"],
        "max_retries": document["max_attempts"] - 1,
        "backoff": document["backoff"],
        "backoff_seconds": base,
        "initial_delay_seconds": base,
        "backoff_multiplier": document["backoff_multiplier"],
        "max_backoff_seconds": whole(document["max_backoff_seconds"]),
        "jitter": document["jitter"],
        "retry_on": document["retry_on"],
        "crash_limit": document.get("crash_limit", CRASH_LIMIT),
    }
