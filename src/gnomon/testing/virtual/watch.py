"""What production code logs while it runs in virtual time: its errors, and the lines of the attempts."""

from __future__ import annotations

import asyncio
import logging
import traceback
from contextvars import ContextVar
from typing import Any

from gnomon.engine.workers.notebook import Capture

# What captures the log lines of the attempts that run in this context.
CAPTURE: ContextVar[Capture | None] = ContextVar("gnomon_virtual_capture", default=None)


class Watch(logging.Handler):
    """Collects errors that production code logs because it must go on. In a world of ours, each is a bug."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.bugs: list[str] = []
        self._logger = logging.getLogger("gnomon")
        self._job_logger = logging.getLogger("gnomon.job")
        self._capture = _CaptureHere()

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.name != "gnomon.job":
            self.bugs.append(self.format(record))

    def unhandled(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        lines = traceback.format_exception(error) if isinstance(error, BaseException) else []
        self.bugs.append(f"{context['message']}\n{''.join(lines)}")

    def __enter__(self) -> Watch:
        self._before = (self._logger.level, self._logger.propagate, self._job_logger.level)
        self._logger.addHandler(self)
        self._logger.setLevel(logging.ERROR)
        self._logger.propagate = False
        self._job_logger.addHandler(self._capture)
        self._job_logger.setLevel(logging.DEBUG)
        return self

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._job_logger.removeHandler(self._capture)
        level, self._logger.propagate, job_level = self._before
        self._logger.setLevel(level)
        self._job_logger.setLevel(job_level)


class _CaptureHere(logging.Handler):
    """Hands the lines of an attempt to the notebook of the node that runs it."""

    def emit(self, record: logging.LogRecord) -> None:
        capture = CAPTURE.get()
        if capture is not None:
            capture.emit(record)
