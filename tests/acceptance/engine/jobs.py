"""The functions that the processes of these tests run."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from gnomon.handlers.base import Context
from gnomon.handlers.python.functions import Functions

functions = Functions(home="tests.acceptance.engine.jobs:functions")


def effect(sink: str, context: Context, **more: object) -> None:
    """One line, on the disk before we go on: what the outside world saw of an attempt."""
    line = json.dumps(
        {"execution": str(context.execution_id), "claim": context.claim, "at": time.time(), **more}
    )
    with Path(sink).open("ab") as file:
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


async def noop() -> None:
    """Nothing, as quickly as possible."""


async def touch(sink: str, context: Context, seconds: float = 0.0) -> str:
    effect(sink, context, what="start")
    await asyncio.sleep(seconds / 2)
    await context.checkpoint({"half": True}, progress=0.5)
    await asyncio.sleep(seconds / 2)
    effect(sink, context, what="end")
    return "done"


async def busy_loop(sink: str, context: Context, seconds: float) -> str:
    """Keeps the event loop, and most of the time the interpreter's lock."""
    effect(sink, context, what="start")
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass
    effect(sink, context, what="end")
    return "done"


def stubborn_thread(sink: str, context: Context, seconds: float) -> str:
    """Sleeps in pieces, so that it can be stopped between two of them."""
    effect(sink, context, what="start")
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.05)
    effect(sink, context, what="end")
    return "done"


async def kills_its_worker() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def gives_no_json() -> object:
    return object()


class Rude(BaseException):
    """Neither an Exception nor anything that Python itself raises."""


async def is_rude() -> None:
    raise Rude("out of my way")


async def never_stops() -> None:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)


async def sits_in_a_thread() -> None:
    await asyncio.to_thread(time.sleep, 600)


def exits() -> None:
    raise SystemExit(3)


def forks() -> str:
    os.fork()
    return "twice"


for function in (
    noop,
    touch,
    busy_loop,
    stubborn_thread,
    kills_its_worker,
    gives_no_json,
    is_rude,
    never_stops,
    sits_in_a_thread,
    exits,
    forks,
):
    functions.add(function.__name__, function)
