"""How long things are kept, and the months they are dropped by."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from gnomon.core.executions.execution import LIVE, ExecutionStatus
from gnomon.core.executions.retention import (
    Month,
    RetentionPolicy,
    all_droppable_before,
    droppable,
    month_of,
    months_between,
)
from gnomon.errors import InvalidInput
from tests.unit.core.builders import DAY, NOON


def test_each_way_to_end_has_its_own_time() -> None:
    policy = RetentionPolicy(completed_days=7, failed_days=90)

    before = droppable(policy, now=NOON)

    assert before[ExecutionStatus.COMPLETED] == NOON - 7 * DAY
    assert before[ExecutionStatus.FAILED] == NOON - 90 * DAY
    assert set(before) == set(ExecutionStatus) - LIVE


def test_a_month_may_go_when_the_longest_kept_have_left_it() -> None:
    policy = RetentionPolicy(completed_days=7, failed_days=90, timeout_days=100)

    assert all_droppable_before(policy, now=NOON) == NOON - 100 * DAY


@pytest.mark.parametrize("days", [0, -1, 40_000, 1.5, True])
def test_a_policy_that_makes_no_sense_is_refused(days: int) -> None:
    with pytest.raises(InvalidInput, match="failed_days"):
        RetentionPolicy(failed_days=days)


def test_a_month_begins_and_ends_in_utc() -> None:
    new_year_in_tokyo = datetime(2027, 1, 1, 8, tzinfo=timezone(timedelta(hours=9)))

    month = month_of(new_year_in_tokyo)

    assert month == Month(2026, 12)
    assert (month.starts, month.ends) == (
        datetime(2026, 12, 1, tzinfo=UTC),
        datetime(2027, 1, 1, tzinfo=UTC),
    )
    assert month_of(month.ends) == month.next == Month(2027, 1)


def test_months_are_named_so_that_names_sort() -> None:
    first, last = datetime(2025, 11, 30, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)

    months = list(months_between(first, last))

    assert [str(month) for month in months] == ["2025_11", "2025_12", "2026_01", "2026_02"]
    assert list(months_between(last, first)) == []
    assert all(month.ends == month.next.starts for month in months)
