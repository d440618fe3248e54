"""Schedules as callers write them: flat beside the other fields of a job, or nested under `schedule`.

Both come down to the one flat document of core/time/schedule_document.py, whose checks then name the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from gnomon.api.forms.words import Words
from gnomon.core.time.schedule import Misfire, Once, Schedule
from gnomon.core.time.schedule_document import (
    OTHER_WORDS,
    TYPES,
    from_document,
    to_document,
    type_that_follows,
)
from gnomon.core.values.forms import Form
from gnomon.errors import InvalidInput

# What a type is called in the flat form of an answer.
JOB_TYPES = {
    "cron": "CRON",
    "interval": "INTERVAL",
    "once": "ONE_TIME",
    "delayed": "DELAYED",
    "manual": "MANUAL",
}
_TIMING = frozenset(
    {"type", "cron", "timezone", "gap", "fold", "interval_seconds", "anchor", "run_at", "delay_seconds"}
)
_OTHER_WORDS = {**OTHER_WORDS, "cron_expression": "cron"}
IF_PAST = {"run_now": Misfire.FIRE_NOW, "skip": Misfire.IGNORE}

Text = str | None | UnsetType
Number = int | float | None | UnsetType
Whole = int | None | UnsetType


class Times(Form):
    """When to run. What is not said is as it is, or as the default says; null takes it back."""

    cron: Text = UNSET
    timezone: Text = UNSET
    gap: Text = UNSET
    fold: Text = UNSET
    interval_seconds: Number = UNSET
    anchor: Text = UNSET
    run_at: Text = UNSET
    delay_seconds: Number = UNSET
    start_at: Text = UNSET
    end_at: Text = UNSET
    max_runs: Whole = UNSET
    jitter_seconds: Number = UNSET
    calendar: Text = UNSET
    misfire_policy: Text = UNSET
    misfire_grace_seconds: Number = UNSET
    catchup_limit: Whole = UNSET
    catchup_window_seconds: Number = UNSET
    overlap_policy: Text = UNSET
    if_past: Text = UNSET


class NestedSchedule(Times):
    """`{"type": "cron", "expression": "0 9 * * *"}`."""

    type: Text = UNSET
    expression: Text = UNSET
    every_seconds: Number = UNSET
    at: Text = UNSET


def schedule_of(
    said: Mapping[str, Any], nested: NestedSchedule | None, *, now: datetime, before: Schedule | None = None
) -> Schedule:
    """The schedule that a caller wants, on top of the one before. Raises InvalidInput, InvalidCron, ..."""
    asked = _asked(said, nested)
    if_past = asked.pop("if_past", None)
    if before is not None and not asked and if_past is None:
        return before
    kept = {} if before is None else to_document(before)
    named = _type(asked) or kept.get("type") or "manual"
    if named != kept.get("type"):
        kept = {name: value for name, value in kept.items() if name not in _TIMING}
    elif _TIMING & asked.keys() and named == "delayed":
        kept.pop("run_at", None)  # That came from the delay that is being replaced.
    document = {**kept, **asked, "type": named}
    if if_past is not None:
        document["misfire_policy"] = _misfire(if_past)
    schedule = from_document({name: value for name, value in document.items() if value is not None})
    if "misfire_policy" not in asked and if_past is None:
        _check_past(schedule, before, now=now)
    return schedule


def _asked(said: Mapping[str, Any], nested: NestedSchedule | None) -> dict[str, Any]:
    """What was said in either form, in our words. Raises InvalidInput if it was said twice."""
    asked: dict[str, Any] = {}
    inner = {} if nested is None else given(nested)
    for prefix, form in (("", said), ("schedule.", inner)):
        for word, value in form.items():
            name = _ours(word)
            if name in asked and asked[name] != value:
                raise InvalidInput(f"{prefix}{word}", "is said twice, in different words.")
            asked[name] = value
    return asked


def words_of_times(said: Mapping[str, Any], nested: NestedSchedule | None) -> Words:
    """How a caller calls the fields of a schedule, whose names in the core are those of its document."""
    inner = {} if nested is None else given(nested)
    words = {}
    if inner:
        words = {name: f"schedule.{name}" for name in NestedSchedule.__struct_fields__}
    if "type" in inner:
        words["cron"] = "schedule.expression"
    elif "job_type" in said:
        words["cron"] = "cron_expression"
    for prefix, form in (("", said), ("schedule.", inner)):
        words |= {_ours(word): f"{prefix}{word}" for word in form}
    return words


def _ours(word: str) -> str:
    return "type" if word == "job_type" else _OTHER_WORDS.get(word, word)


def _type(asked: Mapping[str, Any]) -> str | None:
    """The type that was named, or that follows from what else was said."""
    word = asked.get("type")
    if word is not None:
        if word.lower() not in TYPES:
            raise InvalidInput("type", f"{word[:100]!r} is not one of {', '.join(sorted(set(TYPES)))}.")
        return TYPES[word.lower()]
    return type_that_follows(asked)


def _misfire(word: str) -> str:
    if word.lower() not in IF_PAST:
        raise InvalidInput("if_past", f"{word[:100]!r} is not one of {', '.join(IF_PAST)}.")
    return IF_PAST[word.lower()].value


def _check_past(schedule: Schedule, before: Schedule | None, *, now: datetime) -> None:
    """One time that passed long ago is more often a mistake than a wish."""
    timing = schedule.timing
    if not isinstance(timing, Once) or (before is not None and before.timing == timing):
        return
    if timing.at < now - schedule.misfire_grace:
        raise InvalidInput("run_at", "lies in the past. Say what to do with `if_past`: run_now or skip.")


def given(form: msgspec.Struct) -> dict[str, Any]:
    """The fields of a form that were said, null included."""
    return {name: value for name in form.__struct_fields__ if (value := getattr(form, name)) is not UNSET}


def shown(schedule: Mapping[str, Any], next_run: datetime | None) -> dict[str, Any]:
    """The nested form of an answer, from the document of a schedule."""
    return {**schedule, "expression": schedule.get("cron"), "next_run": next_run}
