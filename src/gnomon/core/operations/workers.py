"""What a worker is: a process with slots that runs executions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from gnomon.core.access.keys import KeyId
from gnomon.core.executions.execution import WorkerId
from gnomon.core.jobs.kinds import kinds_of
from gnomon.core.values.document import check_name
from gnomon.errors import InvalidInput

SLOTS_MAX = 10_000
OFFERS_MAX = 256  # Kinds, queues and capabilities, each: all are read with each call of a worker over HTTP.
# A worker beats several times in this time. One that is silent for longer counts as dead until it beats.
SILENT = timedelta(seconds=60)


class WorkerStatus(StrEnum):
    ACTIVE = "ACTIVE"
    DRAINING = "DRAINING"  # Takes nothing new until it is undrained; what it runs goes on.
    GONE = "GONE"  # Said good-bye.
    DEAD = "DEAD"  # Silent for too long without a good-bye. Never stored: it follows from last_seen_at.


def check_slots(slots: int) -> None:
    """Raises InvalidInput."""
    if type(slots) is not int or not 1 <= slots <= SLOTS_MAX:
        raise InvalidInput("capacity", f"must be a whole number from 1 to {SLOTS_MAX}.")


@dataclass(frozen=True, slots=True)
class Registration:
    """A worker introduces itself. `boot` changes with every start, so a namesake cannot pass for it."""

    id: WorkerId
    boot: UUID
    hostname: str
    slots: int
    kinds: frozenset[str]
    queues: frozenset[str] = frozenset({"default"})
    capabilities: frozenset[str] = frozenset()
    key_id: KeyId | None = None  # Of a worker over HTTP: the key that speaks for it.

    def __post_init__(self) -> None:
        check_name(self.id, field="worker_id")
        check_name(self.hostname, field="hostname")
        for field in ("kinds", "queues", "capabilities"):
            if len(getattr(self, field)) > OFFERS_MAX:
                raise InvalidInput(field, f"more than {OFFERS_MAX}.")
            for name in getattr(self, field):
                check_name(name, field=field)
        check_slots(self.slots)
        object.__setattr__(self, "kinds", kinds_of(self.kinds))

    def offered(self, field: str, asked: Collection[str] | None) -> frozenset[str]:
        """Those of its kinds, queues or capabilities that are asked for; all of them if none are named."""
        own: frozenset[str] = getattr(self, field)
        if asked is None:
            return own
        asked = kinds_of(asked) if field == "kinds" else frozenset(asked)
        if missing := sorted(asked - own):
            said = ", ".join(map(repr, missing))
            raise InvalidInput(
                field, f"worker {self.id} is not registered for {said}. Register it with that."
            )
        return asked


class Registered(NamedTuple):
    """What a worker registered with, and what became of it since."""

    registration: Registration
    status: WorkerStatus


@dataclass(frozen=True, slots=True)
class Worker:
    id: WorkerId
    boot: UUID
    hostname: str
    slots: int
    kinds: frozenset[str]
    queues: frozenset[str]
    capabilities: frozenset[str]
    status: WorkerStatus  # As stored: never DEAD.
    running: int  # Derived from live leases.
    registered_at: datetime
    last_seen_at: datetime
    key_id: KeyId | None = None

    def status_at(self, now: datetime) -> WorkerStatus:
        is_silent = now >= self.last_seen_at + SILENT
        return WorkerStatus.DEAD if is_silent and self.status is not WorkerStatus.GONE else self.status

    def is_live(self, now: datetime) -> bool:
        """Takes work, as far as can be told from here."""
        return self.status_at(now) is WorkerStatus.ACTIVE

    @property
    def free(self) -> int:
        return max(self.slots - self.running, 0)
