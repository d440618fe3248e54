"""The store's verbs against the raw limit, on both databases, in one run.

Every figure is a ratio of two things measured in turns in the same run, and the median of the rounds counts:
a noisy machine disturbs both alike.

ratio           claim + apply at batch 100, against the raw limit (see _raw.py)
bare_ratio      the same against SQL that cannot find what a dead worker left behind (PostgreSQL only)
enqueue_ratio   bulk enqueue, against COPY (PostgreSQL) or executemany (SQLite) of the same rows
full_ratio      claim + apply with a million finished executions in the store, against an empty one
pinned_ratio    claim + apply after 200,000 claims while another transaction holds an old snapshot,
                against fresh (PostgreSQL only)
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from uuid import UUID

import asyncpg
from rich.progress import Progress

from benchmarks import Report
from benchmarks._raw import INPUT, RESULT, BarePostgres, RawPostgres, RawSqlite
from benchmarks._rows import copy_postgres, fill_postgres, fill_sqlite, insert_sqlite
from gnomon.app import open_database
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import ExecutionId, NewExecution, WorkerId
from gnomon.core.executions.lease import LEASE, ClaimRequest
from gnomon.core.executions.lifecycle import Succeeded, after
from gnomon.core.jobs.job import Definition, Job, JobId, NewJob
from gnomon.core.values.document import Document
from gnomon.core.values.ids import IdSource
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore
from tests.postgres import PostgresServer, bundled_server

BATCH = 100
ROUNDS = 31
ROUND = 2_000
BULK = 10_000
FINISHED = 1_000_000
PINNED_CLAIMS = 200_000

ids = IdSource(Random(1))
input_document, result_document = Document(INPUT), Document(RESULT)


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class GnomonLife:
    """The same life through the store's verbs."""

    store: SqlStore
    job: Job

    @classmethod
    async def open(cls, url: str) -> GnomonLife:
        database = await open_database(url)
        await migrate(database, now=now())
        store = SqlStore(database)
        job_id = JobId(ids.next(now()))
        [job] = await store.jobs.create(
            [NewJob(job_id, DEFAULT_TENANT, str(job_id), Definition(kind="noop"), None)], now=now()
        )
        return cls(store, job)

    async def enqueue(self, count: int) -> float:
        """Returns the seconds it took."""
        asked = [
            NewExecution(ExecutionId(ids.next(now())), self.job.id, input=input_document)
            for _ in range(count)
        ]
        started = perf_counter()
        for first in range(0, count, BULK):
            await self.store.executions.enqueue(DEFAULT_TENANT, asked[first : first + BULK], now=now())
        return perf_counter() - started

    async def drain(self, count: int) -> float:
        """Claim and complete `count` executions. Returns executions a second, as far as the verbs take."""
        seconds = 0.0
        for _ in range(count // BATCH):
            asked = ClaimRequest(ids.next(now()), WorkerId("worker"), frozenset({"noop"}), limit=BATCH)
            begun, started = now(), perf_counter()
            leased = await self.store.executions.claim(asked, now=begun, lease_until=begun + LEASE)
            seconds += perf_counter() - started
            assert len(leased) == BATCH
            ended = now()
            # Deciding is the worker's part, not the store's.
            decisions = [
                Decision(one.claim, after(one, Succeeded(result_document), now=ended, jitter=0.5))
                for one in leased
            ]
            started = perf_counter()
            await self.store.executions.apply(decisions, now=ended)
            seconds += perf_counter() - started
        return count / seconds

    async def life(self, count: int) -> float:
        await self.enqueue(count)
        return await self.drain(count)


@dataclass(frozen=True, slots=True)
class RawLife:
    raw: RawPostgres | RawSqlite

    async def life(self, count: int) -> float:
        await self.raw.insert([ids.next(now()) for _ in range(count)], ids.next(now()), now=now())
        started = perf_counter()
        for _ in range(count // BATCH):
            claimed = await self.raw.claim(BATCH, now=now())
            assert len(claimed) == BATCH
            await self.raw.complete(claimed, now=now())
        return count / (perf_counter() - started)


Measure = Callable[[], Awaitable[float]]


async def in_turns(first: Measure, second: Measure, *, rounds: int = ROUNDS) -> tuple[float, float, float]:
    """Medians of both, and the median of second / first. The first round warms up and does not count."""
    await first()
    await second()
    pairs = []
    for number in range(rounds):
        if number % 2:
            after_it, before_it = await second(), await first()
            pairs.append((before_it, after_it))
        else:
            pairs.append((await first(), await second()))
    return (
        median(one for one, _ in pairs),
        median(two for _, two in pairs),
        median(two / one for one, two in pairs),
    )


async def measure_postgres(step: Callable[[str], None]) -> dict[str, float]:
    with PostgresServer(bundled_server(), {"shared_buffers": "256MB", "max_wal_size": "4GB"}) as server:
        raw_dsn, fresh_dsn, full_dsn, pinned_dsn, bulk_dsn = [
            await _new_database(server, name)
            for name in ("raw_db", "fresh_db", "full_db", "pinned_db", "bulk_db")
        ]
        raw, fresh = RawLife(await RawPostgres.open(raw_dsn)), await GnomonLife.open(fresh_dsn)
        step("PostgreSQL: claim and apply against the raw limit")
        limit, gnomon, ratio = await in_turns(lambda: raw.life(ROUND), lambda: fresh.life(ROUND))

        bare = RawLife(await BarePostgres.open(await _new_database(server, "bare_db")))
        bare_ratio = (await in_turns(lambda: bare.life(ROUND), lambda: fresh.life(ROUND)))[2]

        step("PostgreSQL: enqueue against COPY")
        bulk = await GnomonLife.open(bulk_dsn)
        connection = await asyncpg.connect(bulk_dsn)
        enqueue_ratio = await _enqueue_ratio(fresh, lambda rows: copy_postgres(connection, bulk.job, rows))
        await connection.close()

        step(f"PostgreSQL: with {FINISHED:,} finished executions")
        full = await GnomonLife.open(full_dsn)
        await fill_postgres(full_dsn, full.job, FINISHED)
        full_ratio = (await in_turns(lambda: fresh.life(ROUND), lambda: full.life(ROUND)))[2]

        step(f"PostgreSQL: after {PINNED_CLAIMS:,} claims under an old snapshot")
        pinned_ratio = await _pinned_ratio(fresh, pinned_dsn)
        for life in (fresh, full, bulk):
            await life.store.close()
        await raw.raw.close()
        await bare.raw.close()
    return _figures(limit, gnomon, ratio, enqueue_ratio, full_ratio) | {
        "pinned_ratio": pinned_ratio,
        "bare_ratio": bare_ratio,
    }


async def measure_sqlite(step: Callable[[str], None]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        raw, fresh = RawLife(RawSqlite(at / "raw.db")), await GnomonLife.open(f"sqlite://{at / 'fresh.db'}")
        step("SQLite: claim and apply against the raw limit")
        limit, gnomon, ratio = await in_turns(lambda: raw.life(ROUND), lambda: fresh.life(ROUND))

        step("SQLite: enqueue against executemany")
        bulk = await GnomonLife.open(f"sqlite://{at / 'bulk.db'}")
        enqueue_ratio = await _enqueue_ratio(
            fresh, lambda rows: insert_sqlite(at / "bulk.db", bulk.job, rows)
        )

        step(f"SQLite: with {FINISHED:,} finished executions")
        full = await GnomonLife.open(f"sqlite://{at / 'full.db'}")
        fill_sqlite(at / "full.db", full.job, FINISHED)
        full_ratio = (await in_turns(lambda: fresh.life(ROUND), lambda: full.life(ROUND)))[2]
        for life in (fresh, full, bulk):
            await life.store.close()
        await raw.raw.close()
    return _figures(limit, gnomon, ratio, enqueue_ratio, full_ratio)


async def _new_database(server: PostgresServer, name: str) -> str:
    await server.create_database(name)
    return server.dsn(name)


async def _enqueue_ratio(life: GnomonLife, insert: Callable[[Sequence[UUID]], Awaitable[float]]) -> float:
    async def ours() -> float:
        rate = BULK / await life.enqueue(BULK)
        await life.drain(BULK)
        return rate

    async def raw() -> float:
        return BULK / await insert([ids.next(now()) for _ in range(BULK)])

    return (await in_turns(raw, ours, rounds=5))[2]


async def _pinned_ratio(fresh: GnomonLife, dsn: str) -> float:
    pinned = await GnomonLife.open(dsn)
    holder = await asyncpg.connect(dsn)
    async with holder.transaction(isolation="repeatable_read"):
        await holder.fetch(
            "SELECT count(*) FROM jobs"
        )  # Takes the snapshot that everything after is kept for.
        await pinned.enqueue(PINNED_CLAIMS)
        await pinned.drain(PINNED_CLAIMS)
        ratio = (await in_turns(lambda: fresh.life(ROUND), lambda: pinned.life(ROUND)))[2]
    await holder.close()
    await pinned.store.close()
    return ratio


def _figures(
    limit: float, gnomon: float, ratio: float, enqueue_ratio: float, full_ratio: float
) -> dict[str, float]:
    return {
        "limit": round(limit),
        "gnomon": round(gnomon),
        "ratio": ratio,
        "enqueue_ratio": enqueue_ratio,
        "full_ratio": full_ratio,
    }


GOALS = {"ratio": 0.7, "enqueue_ratio": 0.5, "full_ratio": 0.7, "pinned_ratio": 0.5}


def run() -> Report:
    with Progress(transient=True) as progress:
        task = progress.add_task("starting", total=7)

        def step(what: str) -> None:
            progress.update(task, description=what, advance=1)

        numbers = {
            "postgres": asyncio.run(measure_postgres(step)),
            "sqlite": asyncio.run(measure_sqlite(step)),
        }
    lines = [f"{'':14}{'PostgreSQL':>12}{'SQLite':>12}{'goal':>8}"]
    for name in ("limit", "gnomon", *GOALS, "bare_ratio"):
        cells = "".join(_cell(figures.get(name)) for figures in numbers.values())
        lines.append(f"{name:14}{cells}{GOALS.get(name, ''):>8}")
    rounded = {
        store: {name: round(figure, 3) for name, figure in figures.items()}
        for store, figures in numbers.items()
    }
    return Report("\n".join(lines), rounded)


def _cell(figure: float | None) -> str:
    if figure is None:
        return f"{'-':>12}"
    return f"{figure:>10,.0f}/s" if figure > 100 else f"{figure:>12.2f}"
