"""The workflows of the benchmark `dag` in DBOS, as its tutorials have them. Runs where DBOS is installed, and
Gnomon is not.

A chain is a workflow that calls its steps. Steps side by side are coroutines that are started in order and
gathered; a queue, the other advised way, starts what is in it once a second.
"""

from __future__ import annotations

import asyncio
import os

from dbos import DBOS, DBOSConfig

from benchmarks._dag_turns import WIDTH, answers_apart, serve


@DBOS.step()
def add_one(number: int) -> int:
    return number + 1


@DBOS.workflow()
def chain() -> int:
    number = 0
    for _ in range(WIDTH):
        number = add_one(number)
    return number


@DBOS.step()
async def first() -> int:
    return 0


@DBOS.step()
async def same(number: int) -> int:
    return number


@DBOS.step()
async def total(numbers: list[int]) -> int:
    return sum(numbers)


@DBOS.workflow()
async def fan() -> int:
    offset = await first()
    steps = [asyncio.create_task(same(offset + n)) for n in range(WIDTH)]
    return await total(await asyncio.gather(*steps, return_exceptions=True))


async def chain_on_a_thread() -> int:
    """It blocks, so it leaves the loop: once for the whole workflow."""
    return await asyncio.to_thread(chain)


if __name__ == "__main__":
    answer = answers_apart()
    config: DBOSConfig = {"name": "bench", "system_database_url": os.environ["DBOS_SYSTEM_DATABASE_URL"]}
    DBOS(config=config)
    DBOS.launch()
    asyncio.run(serve(chain_on_a_thread, fan, answer))
    DBOS.destroy()
