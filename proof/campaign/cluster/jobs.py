"""What the workers of a campaign run: work of any length that may fail, and tells the sink at its end."""

from __future__ import annotations

import asyncio
import os
import select
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from gnomon.app.connection import AppConnection
from gnomon.app.gnomon import Gnomon
from gnomon.app.processes.engine import Engine
from gnomon.handlers.base import Context, JobFailed
from proof.campaign.cluster.recorder import SOURCE, recorder_of_this_process
from proof.campaign.cluster.sink import tell, tell_and_wait
from proof.simulator.scenarios.flows import marks_of

SINK = "CAMPAIGN_SINK"
BLINK = 0.05


class Watched(Gnomon):
    """An app that looks over the shoulder of the worker that runs it."""

    @asynccontextmanager
    async def attached(self, engine: Engine) -> AsyncIterator[AppConnection]:
        engine.telemetry.on_decisions.append(RECORDER.decided)
        async with super().attached(engine) as connection:
            yield connection


async def work(
    context: Context,
    seconds: float = 0.0,
    fails: float = 0.0,
    permanently: float = 0.0,
    steps: int = 1,
    fenced: bool = True,
) -> str:
    """In `steps`, each of which is kept: an attempt goes on where the one before it came to."""
    with RECORDER.attempt(context) as who:
        _fail(context, fails, permanently)
        done = context.state if isinstance(context.state, int) else 0
        for step in range(done, steps):
            await asyncio.sleep(seconds / steps)
            if steps > 1:
                await context.checkpoint(step + 1, progress=(step + 1) / steps)
        return await tell(os.environ[SINK], fenced=fenced, nonce=_nonce(), **who)


async def task(
    context: Context, seconds: float, fails: float, permanently: float, items: int, inputs: dict[str, Any]
) -> dict[str, Any]:
    """Of a workflow. Its result says which attempt brought it, so that whoever is given it can tell."""
    with RECORDER.attempt(context, marks_of(inputs)) as who:
        _fail(context, fails, permanently)
        await asyncio.sleep(seconds)
        await tell(os.environ[SINK], fenced=True, nonce=_nonce(), **who)
        proof = f"{context.execution_id}/{context.claim}"
        parts = [f"{proof}#{place}" for place in range(items)]
        return {"proof": proof, "items": parts, "coin": context.execution_id.int % 3 > 0}


def work_in_a_thread(context: Context, seconds: float = 0.0, fails: float = 0.0) -> str:
    with RECORDER.attempt(context) as who:
        _fail(context, fails, 0.0)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            select.select([], [], [], BLINK)  # time.sleep fails below libfaketime.
        return tell_and_wait(os.environ[SINK], fenced=True, nonce=_nonce(), **who)


def _fail(context: Context, fails: float, permanently: float) -> None:
    """The same attempt of the same run always does the same."""
    chance = Random(f"{context.execution_id}:{context.attempt}")
    if chance.random() < permanently:
        raise JobFailed("never again", kind="hopeless", permanent=True)
    if chance.random() < fails:
        raise JobFailed("not this time", kind="flaky")


def _nonce() -> str:
    return os.urandom(8).hex()


app = Watched(home="proof.campaign.cluster.jobs:app")
app.functions.add("work", work)
app.functions.add("task", task)
app.functions.add("work_in_a_thread", work_in_a_thread)

# Only a worker of a campaign has something to record.
RECORDER: Any = recorder_of_this_process() if SOURCE in os.environ else None
