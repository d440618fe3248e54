"""The end of a peer in the benchmark `dag`: it runs a workflow when it is its turn, and tells how long that
took. Imports nothing but the standard library.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter

WIDTH = 40
CHAIN_RESULT = WIDTH  # Each task adds one to what the task before it gave.
FAN_RESULT = sum(range(WIDTH))  # The last task adds what the forty gave.

Workflow = Callable[[], Awaitable[int]]


def answers_apart() -> Callable[[str], None]:
    """What writes an answer. All else that would go to the standard output goes to the log."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return lambda line: print(line, file=answers)


async def serve(chain: Workflow, fan: Workflow, answer: Callable[[str], None]) -> None:
    """Run both once to warm up and say so; then a line is the name of one, answered by its seconds."""
    workflows = {"chain40": (chain, CHAIN_RESULT), "fan40": (fan, FAN_RESULT)}
    for name in workflows:
        await seconds(workflows, name)
    answer("ready")
    while line := await asyncio.to_thread(sys.stdin.readline):
        answer(str(await seconds(workflows, line.strip())))


async def seconds(workflows: Mapping[str, tuple[Workflow, int]], name: str) -> float:
    workflow, expected = workflows[name]
    started = perf_counter()
    result = await workflow()
    took = perf_counter() - started
    assert result == expected, f"{name} gave {result}, not {expected}"
    return took
