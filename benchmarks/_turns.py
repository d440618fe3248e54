"""A producer that enqueues at a steady rate when it is its turn. Its moments are those of time.monotonic(),
which all processes of a machine share. Imports nothing but the standard library.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from time import monotonic

STARTS = "GNOMON_BENCH_STARTS"  # Names the file to which a worker writes what it started, and when.
EVERY_SECONDS = 1 / 20

# Returns the moment from which to count, if that is not the one of the call.
Enqueue = Callable[[int], Awaitable[float | None]]


async def take_turn(enqueue: Enqueue, first: int, count: int) -> dict[int, float]:
    """From when to count for each of them: when it was about to be enqueued, or as `enqueue` says."""
    asked: dict[int, float] = {}
    begun = monotonic()
    for place in range(count):
        await asyncio.sleep(begun + place * EVERY_SECONDS - monotonic())
        asked[first + place] = monotonic()
        moment = await enqueue(first + place)
        if moment is not None:
            asked[first + place] = moment
    return asked


def note_start(n: int, *, at: float) -> None:
    """For the first line of a handler to call."""
    with Path(os.environ[STARTS]).open("a") as starts:
        starts.write(f"{n} {at}\n")


async def produce(ways: Mapping[str, Enqueue]) -> None:
    """A line with a way and two numbers is a turn; it is answered by a line of JSON. Ends with the input."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        way, first, count = line.split()
        asked = await take_turn(ways[way], int(first), int(count))
        sys.stdout.write(json.dumps(asked) + "\n")
        sys.stdout.flush()
