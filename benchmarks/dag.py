"""How long workflows of trivial tasks take, on one worker, from the trigger to the end of the run.

Each workflow is made once and run some times, as a schedule would do it.

chain40     forty tasks, one after the other
fan40       one task, then forty side by side, then one
join1000    a thousand tasks side by side, then one that waits for all of them
chain10000  ten thousand tasks, one after the other, once
join5000    five thousand tasks side by side, then one that waits for all of them, once
overhead    of one task of a chain: from the end of its parent to its own end, half of them faster than this
chain_cpu   of one task of a chain: for how long the processor worked for it in this process. The rest of its
            time was PostgreSQL's, the disk's, or spent on the way there
commit      of one row, written by itself and durable, by the same driver: the floor under a task of a chain
checks      of a chain on PostgreSQL: how many times as long it takes where the tables that are written most
            have the CHECKs that they have in tests, in turns with one where they have none
many        ten thousand tasks over a hundred runs, a hundred of them side by side in each; `many_ratio` is
            their rate next to that of plain jobs which the same worker drains in the same run

Peers run `chain40` and `fan40`, too: DBOS on the same PostgreSQL server, Prefect and Temporal on servers of
their own, with their defaults. Each is one process that has both the worker and the one who asks, as ours is.
There, tasks pass on numbers, theirs and ours alike, and what the last one gives is looked at. Each takes
turns with a Gnomon on PostgreSQL; `gnomon_chain40_s` is what that one took then, and `chain40_to_dbos` is
how many times as long as the peer: less than 1 is faster. A peer that cannot be installed or started has
null for its figures, and a reason.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple
from uuid import uuid4

import uvloop
from rich.progress import Progress

from benchmarks import Report
from benchmarks._dag_floor import commit_seconds
from benchmarks._dag_peers import PEERS, PeerFailed, Turns, opened
from benchmarks._dag_turns import CHAIN_RESULT, FAN_RESULT, WIDTH
from benchmarks.store import now
from gnomon.app import open_database
from gnomon.app.processes.engine import Engine, EngineOptions, open_engine
from gnomon.app.processes.garbage import collect_seldom
from gnomon.app.processes.worker_parts import WorkerOptions
from gnomon.client import Ask, Client, Draft
from gnomon.client.context import ClientContext
from gnomon.core.executions.execution import WorkerId
from gnomon.core.jobs.job import Definition
from gnomon.core.operations.workers import Registration
from gnomon.core.runs.state import RunStatus
from gnomon.core.values.document import JSON, Document
from gnomon.core.workflows.dag import Dag
from gnomon.engine.telemetry import What
from gnomon.handlers.python.functions import Functions
from gnomon.handlers.python.handler import FunctionHandler
from gnomon.handlers.registry import Registry
from gnomon.settings import HandlerSettings
from gnomon.store.schema.migrations import migrate
from tests.checks import add_checks
from tests.postgres import PostgresServer, bundled_server

ROUNDS = 5
# With each peer: more, since the speed of the machine may change between a turn of ours and one of theirs.
TURNS = 9
CHECKS_TURNS, WARM_TURNS = 100, 3
SLOTS = 500
LOOK = 0.001
# After the turn of a peer: what it leaves for later, as Prefect does, belongs to nobody's turn.
SETTLE = 2.0
RUNS, TASKS = 100, 100
BATCH = 10_000
GOALS = {
    "overhead_p50_ms": "at most 3",
    "many_ratio": "at least 0.4",
    "dbos": "chain and fan-out no slower",
    "prefect": "chain and fan-out at least 10 times as fast",
    "temporal": "chain and fan-out at least 10 times as fast",
}

Figures = Mapping[str, float | str | None]


async def noop() -> None: ...


async def add_one(number: int) -> int:
    return number + 1


async def same(number: int) -> int:
    return number


async def total(numbers: list[int]) -> int:
    return sum(numbers)


FUNCTIONS = (noop, add_one, same, total)


def task(
    name: str, *depends_on: str, function: str = "noop", arguments: Mapping[str, JSON] | None = None
) -> dict[str, JSON]:
    payload: dict[str, JSON] = {"function": function, **({"arguments": {**arguments}} if arguments else {})}
    return {"name": name, "kind": "python", "payload": payload, "depends_on": [*depends_on]}


def chain(length: int) -> list[JSON]:
    return [task(f"t{n}", *([f"t{n - 1}"] if n else [])) for n in range(length)]


def join(width: int) -> list[JSON]:
    names = [f"p{n}" for n in range(width)]
    return [*(task(name) for name in names), task("join", *names)]


def fan(width: int) -> list[JSON]:
    names = [f"p{n}" for n in range(width)]
    return [task("first"), *(task(name, "first") for name in names), task("last", *names)]


def adding_chain() -> list[JSON]:
    """As the peers have it: each task adds one to what the task before it gave."""
    first = task("t0", function="add_one", arguments={"number": 0})
    return [first, *(_adds_to(n - 1) for n in range(1, WIDTH))]


def _adds_to(before: int) -> dict[str, JSON]:
    arguments: dict[str, JSON] = {"number": f"${{tasks.t{before}.result}}"}
    return task(f"t{before + 1}", f"t{before}", function="add_one", arguments=arguments)


def adding_fan() -> list[JSON]:
    """As the peers have it: the last task adds what the forty gave."""
    names = [f"p{n}" for n in range(WIDTH)]
    numbers: list[JSON] = [f"${{tasks.{name}.result}}" for name in names]
    return [
        task("first", function="same", arguments={"number": 0}),
        *(task(name, "first", function="same", arguments={"number": n}) for n, name in enumerate(names)),
        task("last", *names, function="total", arguments={"numbers": numbers}),
    ]


class Timed(NamedTuple):
    """One run: how long it took, how long the processor worked here, and when its first tasks ended."""

    seconds: float
    cpu_seconds: float
    ends: list[datetime]


@dataclass(frozen=True, slots=True)
class Bench:
    engine: Engine
    client: Client

    async def made(self, name: str, tasks: list[JSON]) -> Dag:
        return await self.client.dags.create({"name": f"{name} {uuid4()}", "tasks": tasks})

    async def timed(self, dag: Dag, tasks: int) -> Timed:
        """Of one run of so many tasks."""
        before = self.engine.telemetry.counts[What.COMPLETED]
        started, cpu_started = perf_counter(), process_time()
        run = await self.client.dags.trigger(dag.job.id)
        await self._completed(before + tasks)
        seconds, cpu_seconds = perf_counter() - started, process_time() - cpu_started
        run = await self.client.runs.get(run.id)
        assert run.status is RunStatus.COMPLETED
        ends = []
        for one in await self.client.runs.tasks(run, limit=40):
            ended = await self.client.executions.get(one.run.executions[0])
            assert ended.finished_at is not None
            ends.append(ended.finished_at)
        return Timed(seconds, cpu_seconds, ends)

    async def last_result(self, dag: Dag) -> JSON:
        """What the last task of the newest run gave."""
        run = (await self.client.runs.list(dag.job.id)).items[0]
        *_, last = await self.client.runs.tasks(run, limit=run.tasks)
        ended = await self.client.executions.get(last.run.executions[0])
        return None if ended.result is None else ended.result.value

    async def rounds(self, name: str, tasks: list[JSON], *, count: int = ROUNDS) -> list[Timed]:
        dag = await self.made(name, tasks)
        return [await self.timed(dag, len(tasks)) for _ in range(count)]

    async def many(self) -> float:
        dag = await self.made("many", fan(TASKS - 2))
        before = self.engine.telemetry.counts[What.COMPLETED]
        started = perf_counter()
        for _ in range(RUNS):
            await self.client.dags.trigger(dag.job.id)
        return await self._drained(before, started)

    async def plain(self) -> float:
        definition = Definition("python", Document('{"function":"noop"}'))
        job = await self.client.jobs.create(Draft(f"plain {uuid4()}", definition))
        before = self.engine.telemetry.counts[What.COMPLETED]
        started = perf_counter()
        for _ in range(RUNS):
            await self.client.executions.enqueue_many([Ask(job.id)] * TASKS)
        return await self._drained(before, started)

    async def _drained(self, before: int, started: float) -> float:
        await self._completed(before + RUNS * TASKS)
        return RUNS * TASKS / (perf_counter() - started)

    async def _completed(self, count: int) -> None:
        """Counted, not asked for: who asks the store all the time takes from what is measured."""
        counts = self.engine.telemetry.counts
        while counts[What.COMPLETED] < count:  # noqa: ASYNC110
            await asyncio.sleep(LOOK)


@asynccontextmanager
async def bench(url: str) -> AsyncIterator[Bench]:
    functions = Functions()
    for function in FUNCTIONS:
        functions.add(function.__name__, function)
    handlers = Registry([FunctionHandler(HandlerSettings(), functions)])
    registration = Registration(WorkerId(f"bench-{uuid4()}"), uuid4(), "bench", SLOTS, handlers.kinds)
    options = EngineOptions(url, seed=Random().getrandbits(64), worker=WorkerOptions(registration, handlers))
    async with open_engine(options) as engine:
        own = ClientContext(engine.store, engine.clock, engine.ids, announce=engine.hints.announce)
        node = asyncio.create_task(engine.node.run())
        yield Bench(engine, Client(own))
        engine.node.drain()
        await node


async def prepare(url: str) -> None:
    database = await open_database(url)
    await migrate(database, now=now())
    await database.close()


async def measure(url: str) -> dict[str, float]:
    await prepare(url)
    collect_seldom()  # As a process of ours does when it is ready.
    async with bench(url) as one:
        await one.rounds("warm", chain(3))
        # Beside the chains, since the speed of a machine that others use, too, changes within minutes.
        chains = await one.rounds("chain", chain(40))
        commit = await commit_seconds(url)
        fans = await one.rounds("fan", fan(40))
        joins = await one.rounds("join", join(1000))
        [long_chain] = await one.rounds("long chain", chain(10_000), count=1)
        [wide_join] = await one.rounds("wide join", join(5000), count=1)
        rates = [(await one.plain(), await one.many()) for _ in range(ROUNDS)]
    gaps = [(b - a).total_seconds() for run in chains for a, b in pairwise(run.ends)]
    return {
        "chain40_s": round(median(run.seconds for run in chains), 3),
        "fan40_s": round(median(run.seconds for run in fans), 3),
        "join1000_s": round(median(run.seconds for run in joins), 3),
        "chain10000_s": round(long_chain.seconds, 1),
        "join5000_s": round(wide_join.seconds, 2),
        "overhead_p50_ms": round(median(gaps) * 1000, 2),
        "chain_cpu_ms": round(median(run.cpu_seconds for run in chains) / 40 * 1000, 2),
        "commit_ms": round(commit * 1000, 2),
        "many_per_s": round(median(many for _, many in rates)),
        "many_ratio": round(median(many / plain for plain, many in rates), 3),
    }


async def take_turns(one: Bench, name: str, peer: Turns) -> Figures:
    """Of a peer that is warm; so the first run of ours does not count."""
    found: dict[str, float] = {}
    shapes = {"chain40": (adding_chain(), CHAIN_RESULT), "fan40": (adding_fan(), FAN_RESULT)}
    for shape, (tasks, result) in shapes.items():
        dag = await one.made(shape, tasks)
        await asyncio.sleep(SETTLE)
        await one.timed(dag, len(tasks))
        assert await one.last_result(dag) == result
        ours, theirs = [], []
        for _ in range(TURNS):
            ours.append((await one.timed(dag, len(tasks))).seconds)
            theirs.append(await peer.seconds(shape))
            await asyncio.sleep(SETTLE)
        found[f"{shape}_s"] = round(median(theirs), 3)
        found[f"gnomon_{shape}_s"] = round(median(ours), 3)
        found[f"{shape}_to_{name}"] = round(median(ours) / median(theirs), 3)
    return found


async def measure_peers(server: PostgresServer, step: Callable[[str], None]) -> dict[str, Figures]:
    url = await server.create_database("turns_db")
    await prepare(url)
    found: dict[str, Figures] = {}
    async with bench(url) as one:
        for name, peer in PEERS.items():
            step(name)
            try:
                async with opened(peer, await server.create_database(f"{name}_db")) as turns:
                    found[name] = await take_turns(one, name, turns)
            except PeerFailed as failed:
                nothing = (
                    f"{shape}_{what}" for shape in ("chain40", "fan40") for what in ("s", f"to_{name}")
                )
                found[name] = dict.fromkeys(nothing) | {"reason": str(failed)}
    return found


async def measure_checks(server: PostgresServer) -> float:
    unchecked, checked = [await server.create_database(name) for name in ("unchecked_db", "checked_db")]
    await prepare(unchecked)
    await prepare(checked)
    await add_checks(checked)
    async with bench(unchecked) as one, bench(checked) as other:
        sides = [(side, await side.made("chain", chain(WIDTH))) for side in (one, other)]
        turns = [[(await side.timed(dag, WIDTH)).seconds for side, dag in sides] for _ in range(CHECKS_TURNS)]
    return median(with_checks / without for without, with_checks in turns[WARM_TURNS:])


async def measure_all(step: Callable[[str], None]) -> tuple[dict[str, dict[str, float]], dict[str, Figures]]:
    step("PostgreSQL")
    with PostgresServer(bundled_server(), {"shared_buffers": "256MB", "max_wal_size": "4GB"}) as server:
        postgres = await measure(await server.create_database("ours_db"))
        await server.drop_database("ours_db")
        postgres["checks_ratio"] = round(await measure_checks(server), 3)
        peers = await measure_peers(server, step)
    step("SQLite")
    with tempfile.TemporaryDirectory() as folder:
        sqlite = await measure(f"sqlite://{folder}/ours.db")
    return {"postgres": postgres, "sqlite": sqlite}, peers


def store_lines(stores: Mapping[str, Mapping[str, float]]) -> list[str]:
    lines = [f"{'':18}" + "".join(f"{store:>12}" for store in stores)]
    for name in next(iter(stores.values())):
        row = "".join(f"{figures.get(name, ''):>12}" for figures in stores.values())
        lines.append(f"{name:18}{row}   {f'(goal {GOALS[name]})' if name in GOALS else ''}")
    return lines


def peer_lines(peers: Mapping[str, Figures]) -> list[str]:
    heads = [head for shape in ("chain40", "fan40") for head in (f"{shape}_s", "gnomon", "ratio")]
    lines = ["", f"{'':18}" + "".join(f"{head:>12}" for head in heads)]
    for name, figures in peers.items():
        if "reason" in figures:
            lines.append(f"{name:18}   left out: {figures['reason']}")
        else:
            row = "".join(f"{figure:>12}" for figure in figures.values())
            lines.append(f"{name:18}{row}   (goal {GOALS[name]})")
    return lines


def run() -> Report:
    with Progress(transient=True) as progress:
        todo = progress.add_task("starting", total=3 + len(PEERS))

        def step(what: str) -> None:
            progress.update(todo, description=what, advance=1)

        stores, peers = uvloop.run(measure_all(step))  # As the command does.
    for name, figures in peers.items():
        if "reason" in figures:
            print(f"dag: {name} is left out: {figures['reason']}", file=sys.stderr)
    return Report("\n".join(store_lines(stores) + peer_lines(peers)), {**stores, "peers": peers})
