"""After a worker died, what ran there is tried again alone."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from datetime import timedelta

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, WaitsFor
from gnomon.core.executions.lease import LEASE
from gnomon.core.executions.lifecycle import DeadReason
from gnomon.core.executions.suspects import PATIENCE
from gnomon.core.jobs.job import Definition
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.values.document import JSON
from gnomon.engine.service import POLL
from gnomon.engine.workers.attempts import NOT_HERE
from gnomon.handlers.base import Context, NotHere
from tests.integration.engine.rig import Rig, WorkerRig

PATIENT = RetryPolicy(max_attempts=20)


class Floor:
    """What runs, on whichever worker. Each execution runs until the test opens its door."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.running: list[ExecutionId] = []
        self.doors: defaultdict[ExecutionId, asyncio.Event] = defaultdict(asyncio.Event)

    async def body(self, context: Context) -> JSON:
        running = self.running
        running.append(context.execution_id)
        await self.doors[context.execution_id].wait()
        running.remove(context.execution_id)
        return None

    def worker(self, name: str, slots: int = 4) -> WorkerRig:
        return self.rig.worker(self.body, name=name, slots=slots)

    async def asked(self, count: int, *, name: str = "job") -> list[ExecutionId]:
        job = await self.rig.job(Definition("test", retry=PATIENT), name=name)
        return [await self.rig.enqueue(job) for _ in range(count)]

    async def died(self) -> None:
        """The worker that ran all this is gone, and its leases run out."""
        await asyncio.sleep(0)
        self.running = []
        self.rig.clock.advance(LEASE + timedelta(seconds=1))
        await self.rig.reap()

    async def end(self, worker: WorkerRig, *runs: ExecutionId) -> None:
        for run in runs:
            self.doors[run].set()
        await worker.settle()


async def polled(rig: Rig, worker: WorkerRig) -> None:
    """As its loop does: a pause, and a step."""
    rig.clock.advance(POLL)
    await worker.worker.step()
    await asyncio.sleep(0)


async def test_what_ran_beside_each_other_runs_again_one_after_the_other(rig: Rig) -> None:
    floor = Floor(rig)
    runs = await floor.asked(4)
    await floor.worker("dead").worker.step()
    await floor.died()
    bob = floor.worker("bob")

    order = []
    for _ in runs:
        await polled(rig, bob)
        [run] = floor.running
        order.append(run)
        await polled(rig, bob)
        assert floor.running == [run]
        await floor.end(bob, run)

    assert order == runs
    assert {(await rig.get(run)).status for run in runs} == {ExecutionStatus.COMPLETED}


async def test_nothing_begins_beside_a_suspect_until_its_end_is_written(rig: Rig) -> None:
    floor = Floor(rig)
    [suspect] = await floor.asked(1)
    await floor.worker("dead").worker.step()
    await floor.died()
    bob = floor.worker("bob")
    await polled(rig, bob)
    [new] = await floor.asked(1, name="new")

    await bob.worker.step()
    assert floor.running == [suspect]
    floor.doors[suspect].set()
    for _ in range(5):
        await asyncio.sleep(0)
    await bob.worker.step()
    assert floor.running == []

    await bob.completer.step()
    await bob.worker.step()
    await asyncio.sleep(0)
    assert floor.running == [new]


async def test_the_poison_convicts_itself_and_its_neighbours_are_cleared(rig: Rig) -> None:
    floor = Floor(rig)
    poison, *innocent = await floor.asked(4)
    await floor.worker("w0").worker.step()
    await floor.died()

    for number in range(1, 9):
        worker = floor.worker(f"w{number}")
        await polled(rig, worker)
        while floor.running and floor.running != [poison]:
            await floor.end(worker, *floor.running)
            await polled(rig, worker)
        if floor.running:
            await floor.died()

    assert {(await rig.get(run)).status for run in innocent} == {ExecutionStatus.COMPLETED}
    assert {(await rig.get(run)).attempts for run in innocent} == {2}
    dead = await rig.store.dead_letters.get(DEFAULT_TENANT, poison)
    assert dead.reason is DeadReason.CRASH_LOOP
    assert dead.failure is not None
    assert dead.failure.kind == "crash_loop"


async def test_new_work_goes_first_on_a_worker_that_is_free_and_then_makes_room(rig: Rig) -> None:
    floor = Floor(rig)
    [suspect] = await floor.asked(1)
    await floor.worker("dead").worker.step()
    await floor.died()
    bob = floor.worker("bob", slots=2)
    new = await floor.asked(4, name="new")
    await bob.worker.step()
    await asyncio.sleep(0)
    assert floor.running == new[:2]

    rig.clock.advance(PATIENCE)
    await floor.end(bob, new[0])
    await polled(rig, bob)
    assert floor.running == [new[1]]

    await floor.end(bob, new[1])
    await polled(rig, bob)
    assert floor.running == [suspect]

    await floor.end(bob, suspect)
    await polled(rig, bob)
    assert floor.running == new[2:]


async def test_a_worker_that_is_woken_by_small_jobs_again_and_again_takes_a_suspect_between_two(
    rig: Rig,
) -> None:
    floor = Floor(rig)
    [suspect] = await floor.asked(1)
    await floor.worker("dead").worker.step()
    await floor.died()
    bob = floor.worker("bob")
    small = await rig.job(Definition("test"), name="small")

    for _ in range(10):  # A hint, and the end of what ran; in between, the worker sleeps.
        run = await rig.enqueue(small)
        floor.doors[run].set()
        await bob.work()
        await bob.worker.step()
        await asyncio.sleep(0)
        rig.clock.advance(POLL / 3)

    assert floor.running == [suspect]


async def test_one_worker_makes_room_and_the_others_go_on(rig: Rig) -> None:
    floor = Floor(rig)
    await floor.asked(1)
    await floor.worker("dead").worker.step()
    await floor.died()
    workers = [floor.worker(name, slots=2) for name in ("bob", "cid")]
    for worker in workers:
        await floor.asked(1, name=f"first of {worker.worker.registration.id}")
        await worker.worker.step()
    rig.clock.advance(PATIENCE)
    await floor.asked(4, name="new")

    for worker in workers:
        await worker.worker.step()

    assert [worker.worker.running for worker in workers] == [1, 2]


async def test_a_worker_that_lacks_what_a_suspect_needs_leaves_it_one_and_waits_for_it_no_more(
    rig: Rig,
) -> None:
    async def lacks(context: Context) -> JSON:
        if str(context.execution_id) == str(suspect):
            raise NotHere("no such function")
        return await floor.body(context)

    floor = Floor(rig)
    [suspect] = await floor.asked(1)
    await floor.worker("dead").worker.step()
    await floor.died()
    bob = rig.worker(lacks, name="bob", slots=2)
    await polled(rig, bob)
    await bob.settle()
    turned_away = await rig.get(suspect)
    assert (turned_away.waits_for, floor.running) == (WaitsFor.EMPTY_WORKER, [])

    [first] = await floor.asked(1, name="first")
    await bob.worker.step()
    rig.clock.advance(NOT_HERE + PATIENCE)
    [new] = await floor.asked(1, name="new")
    await bob.worker.step()
    await asyncio.sleep(0)
    assert floor.running == [first, new]

    cid = floor.worker("cid")
    await polled(rig, cid)
    assert floor.running == [first, new, suspect]
