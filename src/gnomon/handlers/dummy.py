"""The kind `dummy`: does what it is told, for demonstrations and tests."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated, Any

import msgspec

from gnomon.core.values.document import JSON
from gnomon.handlers.base import Context, JobFailed
from gnomon.handlers.payload import read, read_to_run
from gnomon.settings import HandlerSettings

CRASH_EXIT_CODE = 70
# `on` in the environment of a test's processes adds the field `crash`. Elsewhere there is no such field.
MAY_CRASH = "GNOMON_TEST_CRASH"

_Seconds = Annotated[float, msgspec.Meta(ge=0, le=86_400)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=10_000)]


class DummyPayload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sleep_seconds: _Seconds = 0
    steps: _Count = 0  # Checkpoints on the way; the next attempt goes on after the last one.
    log_lines: _Count = 0
    fail_times: _Count = 0  # The first so many attempts fail.
    fail_kind: Annotated[str, msgspec.Meta(min_length=1, max_length=255)] = "failed"
    output: Any = None


class CrashingPayload(DummyPayload, frozen=True, forbid_unknown_fields=True):
    crash: bool = False  # Ends the worker process as a crash would.


class DummyHandler:
    kind = "dummy"

    def __init__(self, settings: HandlerSettings) -> None:
        self._form = CrashingPayload if os.environ.get(MAY_CRASH) == "on" else DummyPayload

    def check(self, payload: JSON) -> None:
        read(payload, self._form)

    async def run(self, payload: JSON, context: Context) -> JSON:
        asked = read_to_run(payload, self._form)
        for number in range(asked.log_lines):
            context.log.info("Line %d of %d.", number + 1, asked.log_lines)
        await _work(asked, context)
        if isinstance(asked, CrashingPayload) and asked.crash:
            os._exit(CRASH_EXIT_CODE)
        if context.attempt <= asked.fail_times:
            raise JobFailed(f"Attempt {context.attempt} fails, as told.", kind=asked.fail_kind)
        output: JSON = asked.output
        return output


async def _work(asked: DummyPayload, context: Context) -> None:
    """Sleep in as many pieces as there are steps, and keep each step."""
    pieces = max(asked.steps, 1)
    for step in range(_steps_done(context.state), pieces):
        if asked.sleep_seconds:
            await asyncio.sleep(asked.sleep_seconds / pieces)
        if asked.steps:
            await context.checkpoint({"step": step + 1}, progress=(step + 1) / pieces)


def _steps_done(state: JSON) -> int:
    match state:
        case {"step": int(step)}:
            return step
        case _:
            return 0
