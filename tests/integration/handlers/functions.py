"""Functions that child processes import, and the registry in which they find them."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import time
from datetime import date, timedelta
from pathlib import Path

from gnomon.handlers.base import Context
from gnomon.handlers.python.functions import Functions

functions = Functions(home="tests.integration.handlers.functions:functions")


def report(day: date, context: Context, rows: int = 0) -> dict[str, object]:
    print("a printed line")  # noqa: T201 - what is printed is kept as well.
    logging.getLogger("app").warning("a logged line")
    context.checkpoint({"rows": rows}, progress=0.5).wait(timedelta(seconds=10))
    return {"day": day, "pid": os.getpid(), "token": context.token, "state": context.state}


async def asynchronous() -> str:
    return "async"


def fails() -> None:
    raise ValueError("not today")


def snoozes(context: Context) -> None:
    context.snooze(timedelta(seconds=9))


def crashes() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def exits() -> None:
    raise SystemExit(3)


def stubborn(path: str) -> None:
    """Starts a child of its own, tells both pids, and never looks at the context."""
    started = subprocess.Popen(["sleep", "1000"])
    Path(path).write_text(f"{os.getpid()} {started.pid}\n")
    while True:
        time.sleep(0.01)


def kind(context: Context, path: str) -> str:
    Path(path).write_text(f"{os.getpid()}\n")
    while not context.cancelled:
        time.sleep(0.001)
    Path(path).write_text("came to its end\n")
    return "over"


for function in (report, asynchronous, fails, snoozes, crashes, exits, stubborn, kind):
    functions.add(function.__name__, function, isolation="process")
