"""The raw limit: the least SQL that lives the same life, with nothing of Gnomon around it.

Insert a run and its place in a hot queue; claim a batch (leave the queue, take a lease with a new claim
number that can be found when it runs out); complete the batch behind the fence (id and claim number of the
lease); keep the run and its result as history; every commit durable.

`BarePostgres` leaves the lease out: the run itself is updated in place, and nobody could find what a dead
worker left behind. It is not the same life; it is here to show what the lease costs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import asyncpg

from gnomon.store.databases.postgres_connect import PLANNER_SETTINGS

INPUT = '{"n":1}'
RESULT = '{"ok":true}'
LEASE = timedelta(seconds=20)


class RawPostgres:
    SCHEMA = """
        CREATE TABLE runs (id uuid PRIMARY KEY, job_id uuid NOT NULL, input json);
        CREATE TABLE waiting (
            id uuid PRIMARY KEY, due timestamptz NOT NULL, claim integer NOT NULL DEFAULT 0
        );
        CREATE INDEX waiting_due ON waiting (due, id);
        CREATE TABLE leased (
            id uuid PRIMARY KEY, claim integer NOT NULL, worker text NOT NULL,
            started_at timestamptz NOT NULL, lease_until timestamptz NOT NULL
        );
        CREATE INDEX leased_until ON leased (lease_until);
        CREATE TABLE done (
            id uuid PRIMARY KEY, claim integer NOT NULL, worker text NOT NULL, status text NOT NULL,
            started_at timestamptz NOT NULL, finished_at timestamptz NOT NULL, result json
        );
    """
    CLAIM = """
        WITH picked AS MATERIALIZED (
            SELECT id, claim FROM waiting WHERE due <= $1 ORDER BY due, id LIMIT $2 FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM waiting USING picked WHERE waiting.id = picked.id
        ), taken AS (
            INSERT INTO leased SELECT id, claim + 1, $3, $1, $4 FROM picked
        )
        SELECT picked.id, picked.claim + 1, runs.input FROM picked JOIN runs ON runs.id = picked.id
    """
    COMPLETE = """
        WITH held AS (
            DELETE FROM leased
            USING unnest($2::uuid[], $3::integer[], $4::json[]) AS given (id, claim, result)
            WHERE leased.id = given.id AND leased.claim = given.claim
            RETURNING leased.id, leased.claim, leased.worker, leased.started_at, given.result
        )
        INSERT INTO done SELECT id, claim, worker, 'COMPLETED', started_at, $1, result FROM held
        RETURNING id
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, dsn: str) -> Self:
        connection = await asyncpg.connect(dsn, server_settings=PLANNER_SETTINGS)
        await connection.execute(cls.SCHEMA)
        return cls(connection)

    async def insert(self, ids: Sequence[UUID], job_id: UUID, *, now: datetime) -> None:
        copy = self._connection.copy_records_to_table
        async with self._connection.transaction():
            await copy(
                "runs", records=[(run, job_id, INPUT) for run in ids], columns=("id", "job_id", "input")
            )
            await copy("waiting", records=[(run, now) for run in ids], columns=("id", "due"))

    async def claim(self, limit: int, *, now: datetime) -> Sequence[Any]:
        rows: Sequence[Any] = await self._connection.fetch(self.CLAIM, now, limit, "worker", now + LEASE)
        return rows

    async def complete(self, claimed: Sequence[Any], *, now: datetime) -> None:
        ids, numbers = [row[0] for row in claimed], [row[1] for row in claimed]
        done = await self._connection.fetch(self.COMPLETE, now, ids, numbers, [RESULT] * len(claimed))
        assert len(done) == len(claimed)

    async def close(self) -> None:
        await self._connection.close()


class BarePostgres(RawPostgres):
    SCHEMA = """
        CREATE TABLE runs (
            id uuid PRIMARY KEY, job_id uuid NOT NULL, input json, status text NOT NULL DEFAULT 'QUEUED',
            claim integer NOT NULL DEFAULT 0, worker text, lease_until timestamptz, started_at timestamptz,
            finished_at timestamptz, result json
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
        FROM unnest($2::uuid[], $3::integer[], $4::json[]) AS done (id, claim, result)
        WHERE runs.id = done.id AND runs.claim = done.claim AND runs.status = 'RUNNING'
        RETURNING runs.id
    """


class RawSqlite:
    SCHEMA = """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        CREATE TABLE runs (id BLOB PRIMARY KEY, job_id BLOB NOT NULL, input TEXT);
        CREATE TABLE waiting (
            id BLOB PRIMARY KEY, due INTEGER NOT NULL, claim INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID;
        CREATE INDEX waiting_due ON waiting (due, id);
        CREATE TABLE leased (
            id BLOB PRIMARY KEY, claim INTEGER NOT NULL, worker TEXT NOT NULL, started_at INTEGER NOT NULL,
            lease_until INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX leased_until ON leased (lease_until);
        CREATE TABLE done (
            id BLOB PRIMARY KEY, claim INTEGER NOT NULL, worker TEXT NOT NULL, status TEXT NOT NULL,
            started_at INTEGER NOT NULL, finished_at INTEGER NOT NULL, result TEXT
        );
    """
    PICK = """
        SELECT waiting.id, claim + 1, input FROM waiting JOIN runs ON runs.id = waiting.id
        WHERE due <= ? ORDER BY due, waiting.id LIMIT ?
    """
    TAKE = "INSERT INTO leased VALUES (?, ?, 'worker', ?, ?)"
    LEAVE = "DELETE FROM waiting WHERE id = ?"
    END = """
        INSERT INTO done SELECT id, claim, worker, 'COMPLETED', started_at, ?, ? FROM leased
        WHERE id = ? AND claim = ?
    """
    RELEASE = "DELETE FROM leased WHERE id = ? AND claim = ?"

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript(self.SCHEMA)

    async def insert(self, ids: Sequence[UUID], job_id: UUID, *, now: datetime) -> None:
        with _transaction(self._connection) as run:
            run.executemany(
                "INSERT INTO runs VALUES (?, ?, ?)", [(one.bytes, job_id.bytes, INPUT) for one in ids]
            )
            run.executemany(
                "INSERT INTO waiting (id, due) VALUES (?, ?)", [(one.bytes, _micros(now)) for one in ids]
            )

    async def claim(self, limit: int, *, now: datetime) -> Sequence[Any]:
        started, until = _micros(now), _micros(now + LEASE)
        with _transaction(self._connection) as run:
            picked = run.execute(self.PICK, (started, limit)).fetchall()
            run.executemany(self.TAKE, [(one, claim, started, until) for one, claim, _ in picked])
            run.executemany(self.LEAVE, [(one,) for one, _, _ in picked])
        return picked

    async def complete(self, claimed: Sequence[Any], *, now: datetime) -> None:
        ended = _micros(now)
        with _transaction(self._connection) as run:
            done = run.executemany(self.END, [(ended, RESULT, one, claim) for one, claim, _ in claimed])
            assert done.rowcount == len(claimed)
            run.executemany(self.RELEASE, [(one, claim) for one, claim, _ in claimed])

    async def close(self) -> None:
        self._connection.close()


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.execute("COMMIT")


def _micros(instant: datetime) -> int:
    return int(instant.timestamp() * 1_000_000)
