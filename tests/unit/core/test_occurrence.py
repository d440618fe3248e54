"""A row of the ledger says one thing: fired, or skipped and why."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from gnomon.core.executions.execution import ExecutionId
from gnomon.core.schedules.occurrence import Occurrence, SkipReason
from tests.unit.core.builders import HOUR, NOON

FIRED = {"execution_id": ExecutionId(UUID(int=1)), "due": NOON}


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"reason": SkipReason.PAUSED, **FIRED},
        {"reason": SkipReason.PAUSED, "due": NOON},
        {"execution_id": ExecutionId(UUID(int=1))},
        {"due": NOON},
        {**FIRED, "count": 2},
        {**FIRED, "nominal_until": NOON + HOUR},
        {"reason": SkipReason.PAUSED, "count": 0},
        {"reason": SkipReason.PAUSED, "nominal_until": NOON - HOUR},
    ],
)
def test_a_row_that_says_two_things_cannot_be_made(words: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        Occurrence(**{"nominal_time": NOON, "nominal_until": NOON} | words)


def test_a_row_is_one_fire_or_a_run_of_skipped_times() -> None:
    assert Occurrence(NOON, NOON, **FIRED).count == 1  # type: ignore[arg-type]
    assert Occurrence(NOON, NOON + HOUR, 61, SkipReason.MISFIRE).due is None
