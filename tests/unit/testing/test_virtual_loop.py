"""Virtual time: it jumps, it never waits, and it tells when nothing can happen any more."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from random import Random
from time import monotonic

import pytest

from gnomon.testing.virtual.loop import STRAND, Deadlock, Strand, VirtualLoop


def test_a_day_passes_in_no_time() -> None:
    loop = VirtualLoop(Random(1))

    async def day() -> float:
        await asyncio.sleep(86_400)
        return loop.time()

    began = monotonic()
    assert loop.run(day()) == 86_400
    assert monotonic() - began < 5


def test_timers_of_one_instant_run_in_an_order_that_the_seed_decides() -> None:
    def order(seed: int) -> list[int]:
        seen: list[int] = []
        loop = VirtualLoop(Random(seed))

        async def main() -> None:
            for number in range(10):
                loop.call_at(1.0, seen.append, number)
            await asyncio.sleep(2)

        loop.run(main())
        return seen

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert sorted(order(2)) == list(range(10))


def test_what_is_ready_runs_in_the_order_in_which_it_was_asked_for() -> None:
    seen: list[object] = []
    loop = VirtualLoop(Random(1))

    async def main() -> None:
        for number in range(10):
            loop.call_soon(seen.append, number)
        await asyncio.sleep(0.1)

    loop.run(main())
    assert seen == list(range(10))


def test_a_deadlock_is_told_with_the_stacks_of_all_tasks() -> None:
    async def wait_for_ever() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Deadlock, match="wait_for_ever"):
        VirtualLoop(Random(1)).run(wait_for_ever())


def test_going_round_in_circles_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.testing.virtual.loop.TURNS_MAX", 1000)

    async def spin() -> None:
        while True:  # noqa: ASYNC110 - that is the point.
            await asyncio.sleep(0)

    with pytest.raises(Deadlock, match="stands still"):
        VirtualLoop(Random(1)).run(spin())


def test_what_is_held_stands_still_and_goes_on_where_it_was() -> None:
    loop, strand, ticks = VirtualLoop(Random(1)), Strand("one"), []

    async def tick() -> None:
        while True:
            await asyncio.sleep(1)
            ticks.append(loop.time())

    async def main() -> None:
        context = copy_context()
        context.run(STRAND.set, strand)
        task = loop.create_task(tick(), context=context)
        loop.call_at(2.5, loop.hold, strand)
        loop.call_at(9.5, loop.let_go, strand)
        await asyncio.sleep(11)
        assert not task.done()

    loop.run(main())
    assert ticks == [1, 2, 9.5, 10.5]
