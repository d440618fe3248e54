"""Jobs as callers write them: the flat and the nested form, which may be mixed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from msgspec import UNSET, UnsetType

from gnomon.api.forms.retry_forms import Retry, retry_of, words_of_retry
from gnomon.api.forms.schedule_forms import (
    NestedSchedule,
    Number,
    Text,
    Times,
    Whole,
    given,
    schedule_of,
    words_of_times,
)
from gnomon.api.forms.words import Words
from gnomon.client import Draft
from gnomon.core.jobs.job import Definition, Delivery, JobId
from gnomon.core.values.choices import choice
from gnomon.core.values.document import JSON, Document, check_name
from gnomon.core.values.instants import parse_seconds
from gnomon.errors import InvalidInput

NAMES_MAX = 256
_TIMES = frozenset(Times.__struct_fields__)
_PLAIN = ("kind", "queue", "priority", "max_concurrent")


class JobForm(Times):
    """A job to be made or changed. Whatever the schedule says may also stand under `schedule`.

    With `allow_unknown_kind`, no worker that runs now has to know its kind.
    """

    kind: Text = UNSET
    job_type: Text = UNSET
    cron_expression: Text = UNSET
    schedule: NestedSchedule | UnsetType | None = UNSET
    payload: Any = UNSET
    retry_config: Retry | UnsetType | None = UNSET
    retry_policy: Retry | UnsetType | None = UNSET
    timeout_seconds: Number = UNSET
    priority: Whole = UNSET
    queue: Text = UNSET
    capabilities: list[str] | UnsetType | None = UNSET
    max_concurrent: Whole = UNSET
    delivery: Text = UNSET
    tags: list[str] | UnsetType | None = UNSET
    dependencies: list[str] | UnsetType | None = UNSET
    allow_unknown_kind: bool = False


class NewJob(JobForm, kw_only=True):
    name: str


class JobPatch(JobForm):
    """What is given changes, the rest stays. `version` is the one that you have seen."""

    name: str | UnsetType = UNSET
    version: int | None = None


# From ids or names of jobs, as callers write them, to ids.
Resolve = Callable[[Sequence[str]], Awaitable[frozenset[JobId]]]


async def draft_of(form: NewJob, resolve: Resolve, *, now: datetime) -> Draft:
    """Raises InvalidInput and its kin, and JobNotFound for a dependency."""
    definition = definition_of(form, None, now=now)
    depends_on = form.dependencies or []
    return Draft(
        form.name,
        definition,
        frozenset(form.tags or []),
        await resolve(depends_on) if depends_on else frozenset(),
        form.allow_unknown_kind,
    )


def definition_of(form: JobForm, before: Definition | None, *, now: datetime) -> Definition:
    """What a form makes of the definition before, or of none. The same one if it says nothing about it."""
    said = given(form)
    nested = said.pop("schedule", None)
    schedule = schedule_of(_times(said), nested, now=now, before=before.schedule if before else None)
    base = before or Definition("dummy")
    changes: dict[str, Any] = {"schedule": schedule, "retry": retry_of(said, base.retry)}
    changes |= {name: said[name] for name in _PLAIN if said.get(name) is not None}
    if "max_concurrent" in said:
        changes["max_concurrent"] = said["max_concurrent"]
    if "payload" in said or before is None:
        kind = said.get("kind")
        if kind is None and before is not None:
            kind = before.kind
        kind, payload = _payload(said.get("payload"), kind)
        changes |= {"kind": kind, "payload": Document.of(payload, field="payload")}
    if "timeout_seconds" in said:
        changes["timeout"] = _seconds(said["timeout_seconds"], "timeout_seconds")
    if "capabilities" in said:
        changes["capabilities"] = frozenset(said["capabilities"] or ())
    if said.get("delivery") is not None:
        changes["delivery"] = choice(Delivery, said["delivery"], field="delivery")
    return replace(base, **changes)


def words_of_job(form: JobForm) -> Words:
    """How this form calls what the core and the handlers name when they refuse it."""
    said = given(form)
    words = words_of_times(_times(said), said.get("schedule")) | words_of_retry(said)
    payload = said.get("payload")
    if isinstance(payload, dict) and "endpoint" in payload:
        words["payload.url"] = "payload.endpoint"
        if "json" not in payload:
            words["payload.json"] = "payload.body"
    return words


def _times(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: said[name] for name in said if name in _TIMES or name in ("job_type", "cron_expression")}


def _payload(payload: Any, kind: str | None) -> tuple[str, JSON]:
    """The payload in the words of its handler, and the kind that follows from it where none is named."""
    kind = None if kind is None else kind.lower()
    if payload is None:
        payload = {}
    if not isinstance(payload, dict):
        return _named(kind), payload
    is_call = "endpoint" in payload or "url" in payload
    if kind is None:
        kind = "http" if is_call else "script" if "script" in payload or "command" in payload else None
    if kind == "http" and "endpoint" in payload:
        payload = dict(payload)
        _check_alone(payload, "endpoint", "url")
        payload["url"] = payload.pop("endpoint")
        if not isinstance(payload.get("body", ""), str | None):
            _check_alone(payload, "body", "json")
            payload["json"] = payload.pop("body")
    if kind is None and not payload:
        kind = "dummy"
    return _named(kind), payload


def _check_alone(payload: dict[str, JSON], name: str, other: str) -> None:
    if name in payload and other in payload:
        raise InvalidInput(f"payload.{name}", f"is another word for payload.{other}; say one of them.")


def _named(kind: str | None) -> str:
    if kind is None:
        raise InvalidInput("kind", "is missing: say what shall run, such as http, python or script.")
    check_name(kind, field="kind")
    return kind


def _seconds(value: Any, field: str) -> timedelta | None:
    return None if value is None else parse_seconds(value, field=field)
