"""The workflows of the benchmark `dag` in Temporal, as its guide for Python has them, with the worker and the
client in one process. Runs where Temporal is installed, and Gnomon is not.
"""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta
from uuid import uuid4

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import Worker

with workflow.unsafe.imports_passed_through():
    from benchmarks._dag_turns import WIDTH, answers_apart, serve

QUEUE = "bench"
TIMEOUT = timedelta(seconds=30)


@activity.defn
async def add_one(number: int) -> int:
    return number + 1


@activity.defn
async def same(number: int) -> int:
    return number


@activity.defn
async def total(numbers: list[int]) -> int:
    return sum(numbers)


@workflow.defn
class Chain:
    @workflow.run
    async def run(self) -> int:
        number = 0
        for _ in range(WIDTH):
            number = await workflow.execute_activity(add_one, number, start_to_close_timeout=TIMEOUT)
        return number


@workflow.defn
class Fan:
    @workflow.run
    async def run(self) -> int:
        first = await workflow.execute_activity(same, 0, start_to_close_timeout=TIMEOUT)
        numbers = await asyncio.gather(
            *(
                workflow.execute_activity(same, first + n, start_to_close_timeout=TIMEOUT)
                for n in range(WIDTH)
            )
        )
        return await workflow.execute_activity(total, numbers, start_to_close_timeout=TIMEOUT)


async def main() -> None:
    answer = answers_apart()
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"])

    async def chain() -> int:
        return await client.execute_workflow(Chain.run, id=str(uuid4()), task_queue=QUEUE)

    async def fan() -> int:
        return await client.execute_workflow(Fan.run, id=str(uuid4()), task_queue=QUEUE)

    activities = [add_one, same, total]
    async with Worker(client, task_queue=QUEUE, workflows=[Chain, Fan], activities=activities):
        await serve(chain, fan, answer)


if __name__ == "__main__":
    asyncio.run(main())
