"""Pure work about many tasks of a run is done in a thread, so that the loop of the process goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from gnomon.core.runs.events import Changes

TASKS_ON_LOOP_MAX = 500  # About these many take a few milliseconds.

P = ParamSpec("P")
T = TypeVar("T")


async def with_turns(tasks: int, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """What work about so many tasks comes to."""
    return (
        await asyncio.to_thread(work, *given, **named) if tasks > TASKS_ON_LOOP_MAX else work(*given, **named)
    )


def tasks_of(changes: Changes) -> int:
    """Those that change, and the items of those that begin."""
    return len(changes.tasks) + sum(len(one.items or ()) for one in changes.releases)
