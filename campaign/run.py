"""One campaign from the first process to the verdict."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import asyncpg

from campaign import clock, harvest
from campaign.clients import Client
from campaign.disk import Disk
from campaign.flows import Flow, flows
from campaign.nemesis import Nemesis
from campaign.nodes import ROOT, Node, die_with_us
from campaign.plan import API_NODES, CLIENTS, POOLED, SCHEDULERS, WORKERS, Fault, Kind
from campaign.proxy import PgProxy
from campaign.recorder import FOLDER, SLOTS, decisions
from campaign.replay import replay
from campaign.vitals import Vitals
from campaign.workload import QUEUES, Work, works
from gnomon.app import open_database, open_store
from gnomon.client import Client as StoreClient
from gnomon.client.context import ClientContext
from gnomon.core.jobs.job import JobId
from gnomon.core.values.ids import IdSource
from gnomon.engine.clock import StoreClock
from gnomon.proof import events, history
from gnomon.proof.history import History
from gnomon.store.protocols.changes import Applied
from gnomon.store.schema.migrations import migrate
from tests.checks import add_checks
from tests.pooler import Pooler
from tests.postgres import USER, PostgresServer, bundled_server, free_port

DATABASE = "campaign"
STARTING = "start"  # Until all is up, nothing can be expected.
SERVER = {
    "max_connections": "450",
    "max_wal_size": "128MB",
    "wal_keep_size": "0",
    "track_commit_timestamp": "on",  # A transaction may take long, and only its end is what others see.
}
WORKER_SLOTS = 16
DRAIN_SECONDS = 5
POOL = 20
UNLIMITED = {f"GNOMON_API_{name}_PER_MINUTE": "off" for name in ("SUBMISSIONS", "QUERIES")}
# Which queues each worker takes from: every queue has three.
SERVES = {"w1": QUEUES, "w2": ("default", "slow"), "w3": ("default", "urgent"), "w4": ("slow", "urgent")}


@dataclass(frozen=True, slots=True)
class Options:
    seconds: float  # Of faults.
    quiet: float
    seed: int
    lease: float
    rate: float  # Questions of clients a second.
    folder: Path
    without: frozenset[Kind] = frozenset()


@dataclass
class Campaign:
    """Everything that runs. `unexpected` are the processes that ended though nobody wanted that."""

    options: Options
    server: PostgresServer
    disk: Disk
    pooler: Pooler | None
    nodes: dict[str, Node] = field(default_factory=dict)
    wires: dict[str, PgProxy] = field(default_factory=dict)
    clients: list[Client] = field(default_factory=list)
    jobs: dict[str, JobId] = field(default_factory=dict)
    key: str = ""  # Of the clients.
    works: Sequence[Work] = ()
    flows: Sequence[Flow] = ()
    unexpected: list[str] = field(default_factory=list)
    still: Mapping[str, str] = field(default_factory=dict)
    replayed: Counter[Applied] = field(default_factory=Counter)
    _sources: dict[str, History] = field(default_factory=dict)

    @property
    def histories(self) -> Path:
        return self.options.folder / "history"

    def history(self, source: str) -> History:
        """Of a source that the campaign itself writes for."""
        if source not in self._sources:
            path = self.histories / f"{source.replace('/', '.')}.jsonl"
            self._sources[source] = History(path, source, now=clock.now)
        return self._sources[source]

    def began(self, node: Node) -> None:
        """A worker says so itself; of the API there is nothing to expect but its answers."""
        if node.role == "scheduler":
            self.history(node.source).write(events.Up, role=node.role)

    def ended(self, node: Node, code: int) -> None:
        if not node.is_expected:
            self.unexpected.append(f"{node.source} ended with {code}; see {node.log.name}")
        if node.role == "scheduler":
            self.history(node.source).write(events.Down, rc=code)
        elif node.role == "worker":
            self._down(node.source, code)

    def _down(self, source: str, code: int) -> None:
        """Nobody else writes into the file of a worker that is gone. A torn line was never said."""
        path = self.histories / f"{source.replace('/', '.')}.jsonl"
        text = path.read_bytes() if path.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        moment = clock.now()
        down = events.Down(src=source, n=whole.count(b"\n") + 1, wall=moment.wall, mono=moment.mono, rc=code)
        path.write_bytes(whole + history.line(down))


@asynccontextmanager
async def opened(options: Options, disk: Disk) -> AsyncIterator[Campaign]:
    """All processes are up, all jobs are made, and nothing is broken yet."""
    for name in ("history", "logs"):
        (options.folder / name).mkdir(parents=True)
    async with AsyncExitStack() as stack:
        server = stack.enter_context(PostgresServer(bundled_server(), SERVER))
        await _make_database(server)
        needs_pooler = Kind.POOLER not in options.without
        pooler = stack.enter_context(Pooler(server, servers_max=POOL)) if needs_pooler else None
        campaign = Campaign(options, server, disk, pooler)
        campaign.works, campaign.flows = works(lease=options.lease), flows(options.seed)
        await _start_sink(campaign, stack)
        starting = {"kind": STARTING, "target": "*"}
        campaign.history("nemesis").write(events.FaultBegin, **starting)
        await _make_jobs(campaign)
        for name in (*SCHEDULERS, *WORKERS, *API_NODES):
            port = pooler.port if pooler and name == POOLED else server.port
            wire = PgProxy("127.0.0.1", port)
            campaign.wires[name] = await stack.enter_async_context(wire.running())
        await _start_nodes(campaign, stack)
        _open_clients(campaign, stack)
        campaign.history("nemesis").write(events.FaultEnd, **starting)
        yield campaign


async def _make_database(server: PostgresServer) -> None:
    dsn = await server.create_database(DATABASE)
    database = await open_database(dsn)
    await migrate(database, now=datetime.now(UTC))
    await database.close()
    await add_checks(dsn)
    connection = await asyncpg.connect(dsn)
    await connection.execute((Path(__file__).parent / "events.sql").read_text(encoding="utf-8"))
    await connection.close()


async def _start_sink(campaign: Campaign, stack: AsyncExitStack) -> None:
    socket = campaign.options.folder / "sink"
    os.environ |= {"CAMPAIGN_SINK": str(socket), FOLDER: str(campaign.histories), SLOTS: str(WORKER_SLOTS)}
    file = campaign.histories / "sink.jsonl"
    command = [sys.executable, "-m", "campaign.sink", str(socket), str(file)]
    process = subprocess.Popen(  # noqa: ASYNC220 - nothing else runs yet.
        command, cwd=ROOT, start_new_session=True, preexec_fn=die_with_us
    )
    stack.callback(process.wait)
    stack.callback(process.kill)
    while not socket.exists():  # noqa: ASYNC110 - another process makes it.
        await asyncio.sleep(0.02)


async def _make_jobs(campaign: Campaign) -> None:
    store = await open_store(campaign.server.dsn(DATABASE))
    store_clock = StoreClock(store.clock)
    await store_clock.learn()
    client = StoreClient(ClientContext(store, store_clock, IdSource(Random(campaign.options.seed))))
    made = await client.jobs.create_many([work.draft for work in campaign.works])
    campaign.key = (await client.keys.create("campaign", ["write", "read"])).text
    campaign.jobs = {job.name: job.id for job in made}
    for flow in campaign.flows:
        campaign.jobs[flow.name] = (await client.dags.create(flow.document)).job.id
    await store.close()
    nemesis, lease = campaign.history("nemesis"), campaign.options.lease
    nemesis.write(events.Expect, lease=lease)
    for work in campaign.works:
        job = str(campaign.jobs[work.draft.name])
        nemesis.write(events.Expect, job=job, run_max=work.run_max, effect=work.effect)
    for flow in campaign.flows:
        for task in flow.tasks:
            job = f"{campaign.jobs[flow.name]}/{task}"
            nemesis.write(events.Expect, job=job, run_max=flow.run_max, effect="fenced")


async def _start_nodes(campaign: Campaign, stack: AsyncExitStack) -> None:
    for name, (role, arguments) in _roles().items():
        is_pooled = name == POOLED and campaign.pooler is not None
        node = campaign.nodes[name] = Node(
            name,
            role,
            arguments,
            {"GNOMON_WORKER_LEASE_SECONDS": f"{campaign.options.lease:g}", **UNLIMITED},
            _address(campaign, is_pooled=is_pooled),
            campaign.wires[name],
            campaign.options.folder / "logs",
            is_pooled=is_pooled,
            ended=campaign.ended,
            began=campaign.began,
        )
        stack.push_async_callback(node.kill)
    await asyncio.gather(*(node.start() for node in campaign.nodes.values()))


def _roles() -> dict[str, tuple[str, tuple[str, ...]]]:
    """The command of each process, and its arguments."""
    workers = {
        name: (
            *("--app", "campaign.jobs:app", "--slots", str(WORKER_SLOTS), "--worker-name", name),
            *("--queues", ",".join((*SERVES[name], name)), "--worker-drain-seconds", str(DRAIN_SECONDS)),
        )
        for name in WORKERS
    }
    return {
        **dict.fromkeys(SCHEDULERS, ("scheduler", ())),
        **{name: ("worker", arguments) for name, arguments in workers.items()},
        **{name: ("api", ("--port", str(free_port()))) for name in API_NODES},
    }


def _address(campaign: Campaign, *, is_pooled: bool) -> str:
    """How a process gets to its wire: with a password, except through the pooler, which asks for none."""
    user = USER if is_pooled else f"{USER}:{campaign.server.password}"
    return f"postgresql://{user}@127.0.0.1:{{port}}/{DATABASE}"


def _open_clients(campaign: Campaign, stack: AsyncExitStack) -> None:
    asked_for = [work for work in campaign.works if work.share]
    servers = {name: f"http://127.0.0.1:{campaign.nodes[name].arguments[-1]}" for name in API_NODES}
    for name in CLIENTS:
        random = Random(f"{campaign.options.seed}:{name}")
        rate = campaign.options.rate / len(CLIENTS)
        source = campaign.history(f"{name}/1")
        names = [flow.name for flow in campaign.flows]
        client = Client(name, servers, campaign.key, source, campaign.jobs, asked_for, names, random, rate)
        stack.push_async_callback(client.close)
        campaign.clients.append(client)


# The course of it -------------------------------------------------------------------------------------

Tell = Callable[[str, Nemesis, "Campaign"], None]


async def run(campaign: Campaign, faults: Sequence[Fault], tell: Tell) -> Nemesis:
    """Faults, heal, quiet, the final read. What happened is in the folder of histories afterwards."""
    options = campaign.options
    nemesis = Nemesis(
        campaign.history("nemesis"),
        campaign.nodes,
        campaign.wires,
        campaign.server,
        DATABASE,
        campaign.pooler,
        campaign.disk,
    )
    enough = asyncio.Event()
    vitals = Vitals(campaign.nodes, campaign.history("machine"))
    campaign.still = vitals.still
    watching = asyncio.create_task(vitals.watch(), name="vitals")
    async with asyncio.TaskGroup() as group:
        for client in campaign.clients:
            group.create_task(client.ask_until(enough))
        await _while_telling(nemesis.carry_out(faults), lambda: tell("faults", nemesis, campaign))
        await nemesis.heal()
        # What the clients asked for last must have the time to end, so they stop in the middle of the quiet.
        await _while_telling(asyncio.sleep(options.quiet / 4), lambda: tell("quiet", nemesis, campaign))
        enough.set()
        await _while_telling(asyncio.sleep(options.quiet * 3 / 4), lambda: tell("quiet", nemesis, campaign))
    await nemesis.send_all_home()
    watching.cancel()
    tell("final read", nemesis, campaign)
    dsn = campaign.server.dsn(DATABASE)
    campaign.replayed = await replay(dsn)
    found = harvest.harvest(dsn, decisions(campaign.histories))
    history.write(campaign.histories / "store.jsonl", [event async for event in found])
    return nemesis


async def _while_telling(what: Awaitable[None], tell: Callable[[], None]) -> None:
    task = asyncio.ensure_future(what)
    while not task.done():
        tell()
        await asyncio.wait([task], timeout=1.0)
    await task
