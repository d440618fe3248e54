"""A producer that enqueues at a steady rate when it is its turn. Its moments are those of time.monotonic(),
which all processes of a machine share. Imports nothing but the standard library.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic

STARTS = "GNOMON_BENCH_STARTS"  # Names the file to which a worker writes what it started, and when.
EVERY_SECONDS = 1 / 20

Enqueue = Callable[[int], Awaitable[None]]


async def take_turn(enqueue: Enqueue, first: int, count: int) -> dict[int, float]:
    """When each of them was about to be enqueued."""
    asked: dict[int, float] = {}
    begun = monotonic()
    for place in range(count):
        await asyncio.sleep(begun + place * EVERY_SECONDS - monotonic())
        asked[first + place] = monotonic()
        await enqueue(first + place)
    return asked


def note_start(n: int, *, at: float) -> None:
    """For the first line of a handler to call."""
    with Path(os.environ[STARTS]).open("a") as starts:
        starts.write(f"{n} {at}\n")


async def produce(enqueue: Enqueue) -> None:
    """A line with two numbers is a turn; it is answered by a line of JSON. Ends with the input."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        first, count = map(int, line.split())
        asked = await take_turn(enqueue, first, count)
        sys.stdout.write(json.dumps(asked) + "\n")
        sys.stdout.flush()
