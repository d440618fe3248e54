"""What a recorder has seen of jobs and runs so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.schedules.firing import FIRST_INSTANT


@dataclass(slots=True)
class RunSeen:
    """What was seen of a run so far."""

    job: UUID
    tenant: TenantId
    rev: int
    v: int = 1
    token: int = 0
    lease_until: datetime = FIRST_INSTANT
    is_over: bool = False
    is_cancelling: bool = False
    is_noted: bool = False  # Of a workflow: what becomes of it while it waits is noted by the store.


@dataclass(slots=True)
class JobSeen:
    version: int
    rev: int
    is_dag: bool = False
    live: dict[UUID, RunSeen] = field(default_factory=dict)
