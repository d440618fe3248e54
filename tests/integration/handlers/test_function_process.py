"""Functions in child processes: they behave as at home, and can be killed."""

from __future__ import annotations

import asyncio
import logging
import os
from datetime import timedelta
from pathlib import Path

import pytest

from gnomon.core.values.document import JSON
from gnomon.handlers.base import JobFailed, NotHere, Snooze
from gnomon.handlers.python.handler import FunctionHandler
from gnomon.settings import HandlerSettings
from tests.attempts import EXECUTION_ID, FakeAttendant, a_payload, an_attempt
from tests.integration.handlers.processes import gone, text_of

HOME = "tests.integration.handlers.functions:functions"
handler = FunctionHandler(HandlerSettings(functions=HOME, function_grace=timedelta(seconds=0.2)))


def call(name: str, **arguments: JSON) -> JSON:
    return a_payload({"function": name, "arguments": arguments})


async def test_it_has_typed_arguments_a_context_and_a_log(caplog: pytest.LogCaptureFixture) -> None:
    attendant = FakeAttendant()
    context = an_attempt(attendant, input={"rows": 7}, state={"from": "before"})
    with caplog.at_level(logging.INFO):
        result = await handler.run(call("report", day="2026-03-01"), context)
    assert isinstance(result, dict)
    assert result.pop("pid") != os.getpid()
    assert result == {"day": "2026-03-01", "token": f"{EXECUTION_ID}:3", "state": {"from": "before"}}
    assert attendant.kept == [({"rows": 7}, 0.5)]
    logged = {(record.levelname, record.getMessage()) for record in caplog.records}
    assert logged >= {("INFO", "a printed line"), ("WARNING", "a logged line")}


async def test_an_async_function_runs_there_too() -> None:
    assert await handler.run(call("asynchronous"), an_attempt()) == "async"


async def test_a_lost_lease_reaches_the_function() -> None:
    with pytest.raises(JobFailed) as failed:
        await handler.run(call("report", day="2026-03-01"), an_attempt(FakeAttendant(lease_is_lost=True)))
    assert failed.value.kind == "LeaseLost"


@pytest.mark.parametrize(
    ("name", "kind"), [("fails", "ValueError"), ("crashes", "crashed"), ("exits", "SystemExit")]
)
async def test_how_it_ends_is_told(name: str, kind: str) -> None:
    with pytest.raises(JobFailed) as failed:
        await handler.run(call(name), an_attempt())
    assert failed.value.kind == kind


async def test_it_may_snooze() -> None:
    with pytest.raises(Snooze) as snoozed:
        await handler.run(call("snoozes"), an_attempt())
    assert snoozed.value.delay == timedelta(seconds=9)


async def test_arguments_are_checked_before_a_process_starts() -> None:
    with pytest.raises(JobFailed, match="Argument day: "):
        await handler.run(call("report", day="never"), an_attempt())


async def test_a_function_that_is_not_here_may_be_elsewhere() -> None:
    with pytest.raises(NotHere):
        await handler.run(call("unknown"), an_attempt())


async def test_one_that_never_looks_is_killed_with_what_it_started(tmp_path: Path) -> None:
    path = tmp_path / "pids"
    task = asyncio.create_task(handler.run(call("stubborn", path=str(path)), an_attempt()))
    pids = [int(word) for word in (await text_of(path)).split()]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for pid in pids:
        await gone(pid)


async def test_one_that_looks_comes_to_its_own_end(tmp_path: Path) -> None:
    path = tmp_path / "state"
    kind = FunctionHandler(HandlerSettings(functions=HOME, function_grace=timedelta(seconds=10)))
    task = asyncio.create_task(kind.run(call("kind", path=str(path)), an_attempt()))
    pid = int(await text_of(path))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert path.read_text() == "came to its end\n"
    await gone(pid)
