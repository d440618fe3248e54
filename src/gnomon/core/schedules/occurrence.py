"""The ledger of fire times: every nominal time of a schedule, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId, WaitsFor
from gnomon.core.jobs.job import JobId, JobStatus


class SkipReason(StrEnum):
    """Why a nominal time did not fire."""

    MISFIRE = "misfire"  # Too old when a scheduler came to it, and the misfire policy says no.
    CATCHUP_LIMIT = "catchup_limit"  # FIRE_ALL, but more were missed than catchup_limit allows.
    CATCHUP_WINDOW = "catchup_window"  # FIRE_ALL, but it lies before the catch-up window.
    OVERLAP = "overlap"  # A run was live and the policy is skip; or a later time replaced it at once.
    PAUSED = "paused"
    CANCELLED = "cancelled"  # The job was cancelled or deleted before a scheduler came to it.
    CALENDAR = "calendar"  # The named calendar excludes its date.
    DST_GAP = "dst_gap"  # The civil time did not exist that day, and the gap policy is skip.


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One nominal time, or a run of skipped ones with one reason.

    Fired: `execution_id` and `due` are set (`due` is the nominal time plus its jitter).
    Skipped: `reason` is set, and the row speaks for `count` nominal times from `nominal_time` to
    `nominal_until`, so that a month of downtime of a job that fires every second stays one row.
    """

    nominal_time: datetime
    nominal_until: datetime
    count: int = 1
    reason: SkipReason | None = None
    execution_id: ExecutionId | None = None
    due: datetime | None = None

    def __post_init__(self) -> None:
        assert (self.reason is None) == (self.execution_id is not None) == (self.due is not None)
        assert self.nominal_time <= self.nominal_until
        assert self.count >= 1
        assert self.reason is not None or (self.count == 1 and self.nominal_time == self.nominal_until)


@dataclass(frozen=True, slots=True)
class Firing:
    """What a scheduler decided about the due times of one job, to be applied whole or not at all.

    `fires`, `last_run_time` and `anchor` are the new values of the job, not differences.
    It takes effect only if the job is still at `expected_version` with `expected_next_run_time`: many
    schedulers may decide the same, one of them writes it.

    `waits_for` is the gate at which its executions begin to wait. For `jobs`, those must have succeeded since
    the fire before, of which `previous_run_time` is the first. `replaces` says that the runs before, which
    are still live, end: the waiting ones at once, the running ones when their workers have stopped.
    """

    job_id: JobId
    tenant_id: TenantId
    expected_version: int
    expected_next_run_time: datetime
    status: JobStatus
    next_run_time: datetime | None
    last_run_time: datetime | None
    fires: int
    anchor: datetime | None
    occurrences: tuple[Occurrence, ...]
    waits_for: WaitsFor | None = None
    previous_run_time: datetime | None = None
    replaces: bool = False
