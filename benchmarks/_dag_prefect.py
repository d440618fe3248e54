"""The workflows of the benchmark `dag` in Prefect, as its guides have them: a task is called in a flow, or
mapped over what it is to run for side by side. Runs where Prefect is installed, and Gnomon is not.
"""

from __future__ import annotations

import asyncio

from prefect import flow, task

from benchmarks._dag_turns import WIDTH, answers_apart, serve


@task
def add_one(number: int) -> int:
    return number + 1


@flow
def chain() -> int:
    number = 0
    for _ in range(WIDTH):
        number = add_one(number)
    return number


@task
def first() -> int:
    return 0


@task
def same(number: int) -> int:
    return number


@task
def total(numbers: list[int]) -> int:
    return sum(numbers)


@flow
def fan() -> int:
    offset = first()
    return total(same.map([offset + n for n in range(WIDTH)]))


async def chain_on_a_thread() -> int:
    """It blocks, so it leaves the loop: once for the whole workflow."""
    return await asyncio.to_thread(chain)


async def fan_on_a_thread() -> int:
    return await asyncio.to_thread(fan)


if __name__ == "__main__":
    answer = answers_apart()
    asyncio.run(serve(chain_on_a_thread, fan_on_a_thread, answer))
