"""The rows that Gnomon keeps, written without it: by COPY, by executemany, and by the million."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any
from uuid import UUID

import asyncpg

from benchmarks._raw import INPUT, RESULT
from gnomon.core.jobs.job import Job

EXECUTION = ("id", "tenant_id", "job_id", "revision", "trigger", "priority", "due", "created_at", "input")
QUEUE = ("execution_id", "tenant_id", "job_id", "revision", "lane_id", "priority", "due")

# A UUIDv7 of now from a counter: past rows lie beside the ones that the benchmark adds.
_PAST_ID = "(lpad(to_hex({ms} + n / 1000), 12, '0') || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid"


async def copy_postgres(connection: Any, job: Job, ids: Sequence[UUID]) -> float:
    """COPY the rows of an enqueue into a store of its own. Returns the seconds it took."""
    now = datetime.now(UTC)
    executions = [(one, job.tenant_id, job.id, 1, "manual", 5, now, now, INPUT) for one in ids]
    queue = [(one, job.tenant_id, job.id, 1, 1, 5, now) for one in ids]
    started = perf_counter()
    async with connection.transaction():
        await connection.copy_records_to_table("executions", records=executions, columns=EXECUTION)
        await connection.copy_records_to_table("queue", records=queue, columns=QUEUE)
    return perf_counter() - started


async def insert_sqlite(path: Path, job: Job, ids: Sequence[UUID]) -> float:
    """The same with executemany."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    now = int(datetime.now(UTC).timestamp() * 1_000_000)
    owner = (job.tenant_id.bytes, job.id.bytes, 1)
    executions = [(one.bytes, *owner, "manual", 5, now, now, INPUT) for one in ids]
    queue = [(one.bytes, *owner, 1, 5, now) for one in ids]
    started = perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(_insert("executions", EXECUTION), executions)
    connection.executemany(_insert("queue", QUEUE), queue)
    connection.execute("COMMIT")
    took = perf_counter() - started
    connection.close()
    return took


async def fill_postgres(dsn: str, job: Job, count: int) -> None:
    """Put `count` finished executions into a store."""
    connection = await asyncpg.connect(dsn)
    past_id = _PAST_ID.format(ms=int(datetime.now(UTC).timestamp() * 1000) - 10_000_000)
    await connection.execute(
        f"""
        INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, due, created_at, input)
        SELECT {past_id}, '{job.tenant_id}', '{job.id}', 1, 'manual', 5, '2026-01-01', '2026-01-01', '{INPUT}'
        FROM generate_series(1, {count}) AS n;
        INSERT INTO endings (execution_id, tenant_id, outcome, last_attempt, claim, attempts, due, worker,
                             started_at, finished_at, result)
        SELECT {past_id}, '{job.tenant_id}', 'COMPLETED', 'COMPLETED', 1, 1, '2026-01-01', 'worker',
               '2026-01-01', '2026-01-01', '{RESULT}'
        FROM generate_series(1, {count}) AS n;
        """
    )
    await connection.execute("VACUUM ANALYZE")
    await connection.close()


def fill_sqlite(path: Path, job: Job, count: int) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    first_ms = int(datetime.now(UTC).timestamp() * 1000) - 10_000_000
    past_ids = [
        (first_ms + n // 1000 << 80 | 0x7000 << 64 | 0x8 << 60 | n).to_bytes(16, "big") for n in range(count)
    ]
    owner = (job.tenant_id.bytes, job.id.bytes, 1)
    ended = (job.tenant_id.bytes, "COMPLETED", "COMPLETED", 1, 1, 0, "worker", 0, 0, RESULT)
    columns = (
        "execution_id", "tenant_id", "outcome", "last_attempt", "claim", "attempts", "due", "worker",
        "started_at", "finished_at", "result",
    )  # fmt: skip
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(
        _insert("executions", EXECUTION), ((one, *owner, "manual", 5, 0, 0, INPUT) for one in past_ids)
    )
    connection.executemany(_insert("endings", columns), ((one, *ended) for one in past_ids))
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
