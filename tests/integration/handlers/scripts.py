"""Scripts that a test runs, and what becomes of them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from gnomon.core.values.document import JSON
from gnomon.handlers.base import JobFailed
from gnomon.handlers.script.handler import ScriptHandler
from gnomon.settings import HandlerSettings
from tests.attempts import a_payload, an_attempt

MEGABYTE = 1024**2


SETTINGS = HandlerSettings(
    script_grace=timedelta(seconds=0.2),
    script_cpu=timedelta(seconds=1),
    script_file_bytes=MEGABYTE,
    script_memory_bytes=512 * MEGABYTE,
    # They count all of the user's: also those of the PostgreSQL servers that other tests run meanwhile.
    script_processes=400,
)


@contextmanager
def logged() -> Iterator[list[str]]:
    lines: list[str] = []
    listener = logging.Handler()
    listener.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("gnomon.job")
    logger.addHandler(listener)
    logger.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        logger.removeHandler(listener)
        logger.setLevel(logging.NOTSET)


def bash(script: str, **more: JSON) -> JSON:
    return a_payload({"interpreter": "bash", "script": script, **more})


async def failure(handler: ScriptHandler, payload: JSON) -> JobFailed:
    with pytest.raises(JobFailed) as failed:
        await handler.run(payload, an_attempt())
    return failed.value
