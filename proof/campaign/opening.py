"""How a campaign begins: database, sink, jobs, wires, processes and clients, before anything is broken."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from random import Random

import asyncpg

from gnomon.app import open_database, open_store
from gnomon.client import Client as StoreClient
from gnomon.client.context import ClientContext
from gnomon.core.values.ids import IdSource
from gnomon.engine.clock import StoreClock
from gnomon.store.schema.migrations import migrate
from proof.campaign.campaign import DATABASE, Campaign, Options
from proof.campaign.cluster.nodes import ROOT, Node, die_with_us
from proof.campaign.cluster.recorder import FOLDER, SLOTS
from proof.campaign.faults.disk import Disk
from proof.campaign.faults.proxy import PgProxy
from proof.campaign.harvest.harvest import TRIGGERS
from proof.campaign.plan import API_NODES, CLIENTS, POOLED, SCHEDULERS, WORKERS, Kind
from proof.campaign.workload.clients import Client
from proof.campaign.workload.flows import flows
from proof.campaign.workload.workload import QUEUES, works
from proof.checker.history import events
from tests.checks import add_checks
from tests.pooler import Pooler
from tests.postgres import USER, PostgresServer, bundled_server, free_port

STARTING = "start"  # Until all is up, nothing can be expected.
SERVER = {
    "max_connections": "450",
    "max_wal_size": "128MB",
    "wal_keep_size": "0",
    "track_commit_timestamp": "on",  # A transaction may take long, and only its end is what others see.
}
WORKER_SLOTS = 16
JOBS = "proof.campaign.cluster.jobs:app"
DRAIN_SECONDS = 5
POOL = 20
UNLIMITED = {f"GNOMON_API_{name}_PER_MINUTE": "off" for name in ("SUBMISSIONS", "QUERIES")}
# Which queues each worker takes from: every queue has three.
SERVES = {"w1": QUEUES, "w2": ("default", "slow"), "w3": ("default", "urgent"), "w4": ("slow", "urgent")}


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
    await connection.execute(TRIGGERS.read_text(encoding="utf-8"))
    await connection.close()


async def _start_sink(campaign: Campaign, stack: AsyncExitStack) -> None:
    socket = campaign.options.folder / "sink"
    os.environ |= {"CAMPAIGN_SINK": str(socket), FOLDER: str(campaign.histories), SLOTS: str(WORKER_SLOTS)}
    file = campaign.histories / "sink.jsonl"
    command = [sys.executable, "-m", "proof.campaign.cluster.sink", str(socket), str(file)]
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
            *("--app", JOBS, "--slots", str(WORKER_SLOTS), "--worker-name", name),
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
