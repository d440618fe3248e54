"""The raw limit: the least SQL that lives the same life, with nothing of Gnomon around it.

Insert a run and its place in a hot queue; claim a batch (leave the queue, get a new claim number); complete
the batch behind the fence (id, claim number, still running); keep the run as history; every commit durable.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from gnomon.store.postgres import PLANNER_SETTINGS

INPUT = '{"n":1}'
RESULT = '{"ok":true}'
LEASE = timedelta(seconds=20)


class RawPostgres:
    SCHEMA = """
        DROP TABLE IF EXISTS runs, waiting;
        CREATE TABLE runs (
            id uuid PRIMARY KEY, job_id uuid NOT NULL, input jsonb, status text NOT NULL,
            claim integer NOT NULL DEFAULT 0, worker text, lease_until timestamptz, started_at timestamptz,
            finished_at timestamptz, result jsonb
        ) WITH (fillfactor = 50);
        CREATE TABLE waiting (id uuid PRIMARY KEY, due timestamptz NOT NULL);
        CREATE INDEX waiting_due ON waiting (due, id);
    """
    CLAIM = """
        WITH picked AS MATERIALIZED (
            SELECT id FROM waiting WHERE due <= $1 ORDER BY due, id LIMIT $2 FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM waiting USING picked WHERE waiting.id = picked.id
        )
        UPDATE runs SET status = 'RUNNING', claim = claim + 1, worker = $3, lease_until = $4, started_at = $1
        FROM picked WHERE runs.id = picked.id
        RETURNING runs.id, runs.claim, runs.input
    """
    COMPLETE = """
        UPDATE runs SET status = 'COMPLETED', finished_at = $1, result = done.result, lease_until = NULL
        FROM unnest($2::uuid[], $3::integer[], $4::jsonb[]) AS done (id, claim, result)
        WHERE runs.id = done.id AND runs.claim = done.claim AND runs.status = 'RUNNING'
        RETURNING runs.id
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, dsn: str) -> RawPostgres:
        connection = await asyncpg.connect(dsn, server_settings=PLANNER_SETTINGS)
        await connection.execute(cls.SCHEMA)
        return cls(connection)

    async def insert(self, ids: Sequence[UUID], job_id: UUID, *, now: datetime) -> None:
        async with self._connection.transaction():
            await self._connection.copy_records_to_table(
                "runs",
                records=[(run, job_id, INPUT, "QUEUED") for run in ids],
                columns=("id", "job_id", "input", "status"),
            )
            await self._connection.copy_records_to_table(
                "waiting", records=[(run, now) for run in ids], columns=("id", "due")
            )

    async def claim(self, limit: int, *, now: datetime) -> Sequence[Any]:
        rows: Sequence[Any] = await self._connection.fetch(self.CLAIM, now, limit, "worker", now + LEASE)
        return rows

    async def complete(self, claimed: Sequence[Any], *, now: datetime) -> None:
        done = await self._connection.fetch(
            self.COMPLETE,
            now,
            [row[0] for row in claimed],
            [row[1] for row in claimed],
            [RESULT] * len(claimed),
        )
        assert len(done) == len(claimed)

    async def close(self) -> None:
        await self._connection.close()


class RawSqlite:
    SCHEMA = """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        CREATE TABLE runs (
            id BLOB PRIMARY KEY, job_id BLOB NOT NULL, input TEXT, status TEXT NOT NULL,
            claim INTEGER NOT NULL DEFAULT 0, worker TEXT, lease_until INTEGER, started_at INTEGER,
            finished_at INTEGER, result TEXT
        );
        CREATE TABLE waiting (id BLOB PRIMARY KEY, due INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX waiting_due ON waiting (due, id);
    """
    PICK = """
        DELETE FROM waiting
        WHERE id IN (SELECT id FROM waiting WHERE due <= ? ORDER BY due, id LIMIT ?)
        RETURNING id
    """
    TAKE = """
        UPDATE runs SET status = 'RUNNING', claim = claim + 1, worker = ?, lease_until = ?, started_at = ?
        WHERE id = ?
        RETURNING id, claim, input
    """
    COMPLETE = """
        UPDATE runs SET status = 'COMPLETED', finished_at = ?, result = ?, lease_until = NULL
        WHERE id = ? AND claim = ? AND status = 'RUNNING'
    """

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript(self.SCHEMA)

    async def insert(self, ids: Sequence[UUID], job_id: UUID, *, now: datetime) -> None:
        with _transaction(self._connection) as run:
            run.executemany(
                "INSERT INTO runs (id, job_id, input, status) VALUES (?, ?, ?, 'QUEUED')",
                [(one.bytes, job_id.bytes, INPUT) for one in ids],
            )
            run.executemany(
                "INSERT INTO waiting (id, due) VALUES (?, ?)", [(one.bytes, _micros(now)) for one in ids]
            )

    async def claim(self, limit: int, *, now: datetime) -> Sequence[Any]:
        with _transaction(self._connection) as run:
            picked = run.execute(self.PICK, (_micros(now), limit)).fetchall()
            return [
                run.execute(self.TAKE, ("worker", _micros(now + LEASE), _micros(now), one)).fetchone()
                for (one,) in picked
            ]

    async def complete(self, claimed: Sequence[Any], *, now: datetime) -> None:
        with _transaction(self._connection) as run:
            done = run.executemany(
                self.COMPLETE, [(_micros(now), RESULT, one, claim) for one, claim, _ in claimed]
            )
            assert done.rowcount == len(claimed)

    async def close(self) -> None:
        self._connection.close()


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.execute("COMMIT")


def _micros(instant: datetime) -> int:
    return int(instant.timestamp() * 1_000_000)
