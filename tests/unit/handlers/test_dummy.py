"""The kind that does what it is told."""

from __future__ import annotations

import logging

import pytest

from gnomon.errors import InvalidInput
from gnomon.handlers.base import JobFailed
from gnomon.handlers.dummy import DummyHandler
from gnomon.settings import HandlerSettings
from tests.attempts import FakeAttendant, a_payload, an_attempt

dummy = DummyHandler(HandlerSettings())


async def test_it_returns_what_it_was_told_to() -> None:
    assert await dummy.run(a_payload({"output": {"rows": [1, 2]}}), an_attempt()) == {"rows": [1, 2]}


async def test_it_fails_as_often_as_told() -> None:
    payload = a_payload({"fail_times": 2, "fail_kind": "flaky", "output": 1})
    for attempt in (1, 2):
        with pytest.raises(JobFailed) as failed:
            await dummy.run(payload, an_attempt(attempt=attempt))
        assert failed.value.kind == "flaky"
    assert await dummy.run(payload, an_attempt(attempt=3)) == 1


async def test_it_keeps_each_step_and_goes_on_after_the_last() -> None:
    attendant = FakeAttendant()
    await dummy.run(a_payload({"steps": 4}), an_attempt(attendant, state={"step": 2}))
    assert attendant.kept == [({"step": 3}, 0.75), ({"step": 4}, 1.0)]


async def test_it_writes_lines(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "gnomon.job"):
        await dummy.run(a_payload({"log_lines": 2}), an_attempt())
    assert caplog.messages == ["Line 1 of 2.", "Line 2 of 2."]


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ([], "payload"),
        ({"sleep_seconds": -1}, "payload.sleep_seconds"),
        ({"fail_times": 1.5}, "payload.fail_times"),
        ({"unknown": 1}, "payload.unknown"),
        ({"crash": True}, "payload.crash"),  # It exists only where a test switched it on.
    ],
)
async def test_a_bad_payload_is_refused_by_field(payload: object, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        dummy.check(payload)  # type: ignore[arg-type]
    assert refused.value.field == field
    with pytest.raises(JobFailed) as failed:
        await dummy.run(a_payload(payload), an_attempt())  # type: ignore[arg-type]
    assert (failed.value.kind, failed.value.permanent) == ("bad_payload", True)
