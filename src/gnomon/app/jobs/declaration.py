"""What a decorator says about a job, in Python's words, and what that comes to in the words of the core."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import blake2b
from typing import TypedDict, TypeVar

from gnomon.app.jobs.calls import duration
from gnomon.core.jobs.job import PRIORITY_DEFAULT, Definition, Delivery
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.time.schedule import CronTiming, Interval, Manual, Misfire, Once, Overlap, Schedule, Timing
from gnomon.core.time.schedule_document import to_document
from gnomon.core.values.document import JSON, Document
from gnomon.errors import InvalidInput
from gnomon.handlers.python.functions import Isolation

Seconds = timedelta | float
_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """When a job runs by itself. At most one of `cron`, `every`, `at` and `schedule`."""

    cron: str | None = None
    every: Seconds | None = None
    at: datetime | None = None
    timezone: str | None = None
    misfire: str | None = None
    overlap: str | None = None
    schedule: Schedule | None = None

    def as_schedule(self) -> Schedule:
        said = [name for name in ("cron", "every", "at", "schedule") if getattr(self, name) is not None]
        if len(said) > 1:
            raise InvalidInput(said[1], f"{said[0]} is given too; a job has one schedule.")
        if self.timezone is not None and self.cron is None:
            raise InvalidInput("timezone", "belongs to cron, which is not given.")
        schedule = Schedule(self._timing()) if self.schedule is None else self.schedule
        if self.misfire is not None:
            schedule = replace(schedule, misfire=choice(Misfire, self.misfire.upper(), field="misfire"))
        if self.overlap is not None:
            schedule = replace(schedule, overlap=choice(Overlap, self.overlap, field="overlap"))
        return schedule

    def _timing(self) -> Timing:
        if self.cron is not None:
            return CronTiming(self.cron, self.timezone or "UTC")
        every = duration(self.every, field="every")
        if every is not None:
            try:
                return Interval(every)
            except InvalidInput as error:
                raise InvalidInput("every", error.reason) from None
        return Manual() if self.at is None else Once(self.at)


class JobOptions(TypedDict, total=False):
    """The options that every declared job has, as keywords."""

    cron: str | None
    every: Seconds | None
    timezone: str | None
    schedule: Schedule | None
    misfire: str | None
    overlap: str | None
    retries: int | None
    retry: RetryPolicy | None
    timeout: Seconds | None
    queue: str
    capabilities: Collection[str]
    priority: int
    max_concurrent: int | None
    delivery: str
    tags: Collection[str]


WHEN_OPTIONS = frozenset(field.name for field in fields(When))


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What a declared job takes, but for its name and what it runs. Durations are timedeltas or seconds."""

    cron: str | None = None
    every: Seconds | None = None
    timezone: str | None = None
    schedule: Schedule | None = None
    misfire: str | None = None
    overlap: str | None = None
    retries: int | None = None
    retry: RetryPolicy | None = None
    timeout: Seconds | None = None
    queue: str = "default"
    capabilities: Collection[str] = ()
    priority: int = PRIORITY_DEFAULT
    max_concurrent: int | None = None
    delivery: str = Delivery.AT_LEAST_ONCE
    tags: Collection[str] = ()
    isolation: Isolation | str | None = None

    def definition(self, kind: str, payload: Document) -> Definition:
        when = When(
            cron=self.cron,
            every=self.every,
            timezone=self.timezone,
            schedule=self.schedule,
            misfire=self.misfire,
            overlap=self.overlap,
        )
        return Definition(
            kind,
            payload,
            when.as_schedule(),
            self._retry(),
            queue=self.queue,
            capabilities=frozenset(self.capabilities),
            priority=self.priority,
            timeout=duration(self.timeout, field="timeout"),
            max_concurrent=self.max_concurrent,
            delivery=choice(Delivery, self.delivery, field="delivery"),
        )

    def _retry(self) -> RetryPolicy:
        if self.retries is None:
            return self.retry or RetryPolicy()
        if self.retry is not None:
            raise InvalidInput("retries", "retry is given too, and says how many attempts there are.")
        if type(self.retries) is not int or self.retries < 0:
            raise InvalidInput("retries", f"{self.retries!r} is not a whole number of at least 0.")
        return RetryPolicy(max_attempts=self.retries + 1)


def payload_of(function: str, arguments: dict[str, JSON]) -> Document:
    said: dict[str, JSON] = {"function": function}
    return Document.of(said | ({"arguments": arguments} if arguments else {}), field="arguments")


def name_of(function: str, definition: Definition) -> str:
    """The name of a job that was scheduled without one: the same schedule and arguments, the same name."""
    said = json.dumps([to_document(definition.schedule), definition.payload.value], sort_keys=True)
    return f"{function}-{blake2b(said.encode(), digest_size=4).hexdigest()}"


def choice(choices: type[_Choice], value: str, *, field: str) -> _Choice:
    try:
        return choices(value)
    except ValueError:
        raise InvalidInput(field, f"{value!r} is not one of {', '.join(choices)}.") from None
