"""What an execution is and what may be asked for."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from gnomon.core.executions.execution import LIVE, ExecutionId, ExecutionStatus, Failure, NewExecution
from gnomon.errors import InvalidInput
from tests.unit.core.builders import JOB_ID


def test_an_execution_is_live_or_final() -> None:
    assert {status for status in ExecutionStatus if not status.is_final} == LIVE
    assert {status.value for status in LIVE} == {"PENDING", "QUEUED", "RUNNING"}


@pytest.mark.parametrize(("field", "value"), [("priority", 10), ("priority", True), ("unique_key", "")])
def test_a_run_that_makes_no_sense_is_refused(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=field):
        NewExecution(ExecutionId(UUID(int=1)), JOB_ID, **{field: value})


def test_a_failure_can_always_be_kept() -> None:
    failure = Failure("Bad\0Kind" * 100, "lone \ud800, NUL \0, long " + "x" * 100_000)

    assert len(failure.kind) == 255
    assert len(failure.message) == 16 * 1024
    assert failure.message.startswith("lone ?, NUL \ufffd, long xxx")
    failure.message.encode()
