"""A worker's time-limited claim on an execution, and the number that fences it.

Two numbers that look alike and must not be mixed:
`Claim.number` counts hand-outs. It only grows, so an old claim can never pass for a newer one.
`Leased.attempts` counts what was charged to the retry budget. A drain or a snooze gives it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple, Protocol
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId, WorkerId
from gnomon.core.jobs.job import DAG_KIND, JobId, Revision
from gnomon.core.values.document import Document, check_name
from gnomon.errors import InvalidInput

LEASE = timedelta(seconds=20)
# Renew at a third of the lease: two renewals may be lost before the execution is.
RENEW_EVERY = LEASE / 3
CLAIM_LIMIT_MAX = 10_000
NAMES_REMEMBERED_MAX = 32


# Claim, Leased and Renewed are made by the ten thousand a second: a NamedTuple is as immutable as a frozen
# dataclass and is built several times faster.


class Claim(NamedTuple):
    """The right to change one running execution: the fencing token."""

    execution_id: ExecutionId
    number: int


def _check_names(names: frozenset[str], field: str) -> None:
    for name in names:
        check_name(name, field=field)


# A worker asks with the same ones a thousand times a second.
_check_few_names = lru_cache(maxsize=256)(_check_names)


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """A worker asks for work. The same `id` asked again gets the same answer: a lost reply leaks nothing.

    `is_repeat` says that the id was sent before and no answer came. The first one may still be at work in the
    database; a repeat waits for it, where a first request that finds nothing answers at once.

    `is_counted` makes the store count: the worker gets what it has slots for beside what it holds, and
    nothing while it is not live. A worker that has the store to itself counts on its own.

    `is_alone` asks for one suspect (see core/executions/suspects.py), and for nothing else. The worker that
    asks holds nothing, and claims nothing beside it. Where the store counts, it sees to that, and nobody has
    to ask.
    """

    id: UUID
    worker: WorkerId
    kinds: frozenset[str]
    queues: frozenset[str] = frozenset({"default"})
    capabilities: frozenset[str] = frozenset()
    limit: int = 1
    is_repeat: bool = False
    is_counted: bool = False
    is_alone: bool = False

    def __post_init__(self) -> None:
        check_name(self.worker, field="worker")
        for field in ("kinds", "queues", "capabilities"):
            names = getattr(self, field)
            check = _check_few_names if len(names) <= NAMES_REMEMBERED_MAX else _check_names
            check(names, field)
        if DAG_KIND in self.kinds:
            raise InvalidInput("kinds", f"{DAG_KIND!r} is nothing that a worker runs.")
        if type(self.limit) is not int or not 1 <= self.limit <= CLAIM_LIMIT_MAX:
            raise InvalidInput("limit", f"must be a whole number from 1 to {CLAIM_LIMIT_MAX}.")

    def lot(self, limited: TenantId | None) -> bytes:
        """Tenants with a limit, and all others as one, take turns: who draws the lowest lot comes first."""
        return sha256(self.id.bytes + (b"" if limited is None else limited.bytes)).digest()

    @property
    def is_heads(self) -> bool:
        """A coin that falls anew for each request."""
        return self.lot(None)[-1] % 2 == 0


class Leased(NamedTuple):
    """An execution in a worker's hands, with all that running it and deciding about it needs."""

    claim: Claim
    tenant_id: TenantId
    job_id: JobId
    revision: Revision
    worker: WorkerId
    priority: int
    nominal_time: datetime | None
    due: datetime
    input: Document | None
    attempts: int
    crashes: int  # Times in a row that its worker died.
    started_at: datetime
    lease_until: datetime
    cancel_requested: bool = False

    @property
    def attempt(self) -> int:
        """The number of this try, as people count: the first one is 1."""
        return self.attempts + 1

    @property
    def is_suspect(self) -> bool:
        """Its worker died the last time, so it runs alone."""
        return self.crashes > 0

    @property
    def payload(self) -> Document:
        """What to do. A task of a workflow may get its own, with the results that it refers to."""
        rendered = self.input if self.revision.is_task else None
        return self.revision.definition.payload if rendered is None else rendered


class Renewed(NamedTuple):
    """A lease that still holds. A claim that is missing from the answer is lost: stop working on it."""

    claim: Claim
    cancel_requested: bool


class Offer(Protocol):
    """What a worker can do, whether it asks for work or is only looked at."""

    @property
    def kinds(self) -> frozenset[str]: ...
    @property
    def queues(self) -> frozenset[str]: ...
    @property
    def capabilities(self) -> frozenset[str]: ...


@dataclass(frozen=True, slots=True)
class Lane:
    """Who may run what: the part of a definition that decides which workers an execution fits."""

    tenant_id: TenantId
    queue: str
    kind: str
    capabilities: frozenset[str]

    def fits(self, offer: Offer) -> bool:
        return (
            self.kind.lower() in offer.kinds  # Earlier releases kept a kind as it was written.
            and self.queue in offer.queues
            and self.capabilities <= offer.capabilities
        )
