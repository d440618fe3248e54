"""How long ended executions are kept, and the months by which they are stored and dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gnomon.core.executions.execution import ExecutionStatus
from gnomon.errors import InvalidInput

DAYS_MAX = 36_600


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """Days for which an execution is kept after its end, by how it ended."""

    completed_days: int = 30
    failed_days: int = 90
    timeout_days: int = 90
    cancelled_days: int = 30
    skipped_days: int = 30

    def __post_init__(self) -> None:
        for field in self.__slots__:
            days = getattr(self, field)
            if type(days) is not int or not 1 <= days <= DAYS_MAX:
                raise InvalidInput(field, f"{days!r} is not a whole number of days from 1 to {DAYS_MAX}.")


def droppable(policy: RetentionPolicy, *, now: datetime) -> Mapping[ExecutionStatus, datetime]:
    """For each way to end, the instant before which an execution must have ended to be dropped."""
    days = {
        ExecutionStatus.COMPLETED: policy.completed_days,
        ExecutionStatus.FAILED: policy.failed_days,
        ExecutionStatus.TIMEOUT: policy.timeout_days,
        ExecutionStatus.CANCELLED: policy.cancelled_days,
        ExecutionStatus.SKIPPED: policy.skipped_days,
    }
    return {status: now - timedelta(days=count) for status, count in days.items()}


def all_droppable_before(policy: RetentionPolicy, *, now: datetime) -> datetime:
    """The instant before which anything that ended may go. A month that lies before it is dropped whole."""
    return min(droppable(policy, now=now).values())


@dataclass(frozen=True, slots=True, order=True)
class Month:
    """A month in UTC: from `starts`, up to but without `ends`."""

    year: int
    number: int

    def __post_init__(self) -> None:
        assert 1 <= self.number <= 12

    @property
    def next(self) -> Month:
        return Month(self.year + self.number // 12, self.number % 12 + 1)

    @property
    def starts(self) -> datetime:
        return datetime(self.year, self.number, 1, tzinfo=UTC)

    @property
    def ends(self) -> datetime:
        return self.next.starts

    def __str__(self) -> str:
        """Fit for the name of a partition, and sorts like the months."""
        return f"{self.year:04}_{self.number:02}"


def month_of(instant: datetime) -> Month:
    utc = instant.astimezone(UTC)
    return Month(utc.year, utc.month)


def months_between(first: datetime, last: datetime) -> Iterator[Month]:
    """The months from the one of `first` to the one of `last`, both included."""
    month, end = month_of(first), month_of(last)
    while month <= end:
        yield month
        month = month.next
