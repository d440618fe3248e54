"""The floor under a chain of tasks: one row, written by itself and durable, by the driver that we use."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from statistics import median
from time import perf_counter

import asyncpg

from gnomon.app.processes.opening import dialect_of
from gnomon.store.databases.sqlite_connection import PRAGMAS

ROUNDS = 200
TABLE = "CREATE TABLE floor (n integer)"
INSERT = "INSERT INTO floor VALUES (1)"


async def commit_seconds(url: str) -> float:
    """Half of them are faster than this."""
    commits = _commits(url) if dialect_of(url) == "postgres" else _commits_of_file(url)
    return median([seconds async for seconds in commits])


async def _commits(url: str) -> AsyncIterator[float]:
    connection = await asyncpg.connect(url)
    await connection.execute(TABLE)
    for _ in range(ROUNDS):
        started = perf_counter()
        await connection.fetch(INSERT)
        yield perf_counter() - started
    await connection.close()


async def _commits_of_file(url: str) -> AsyncIterator[float]:
    """A file beside the one that is measured."""
    with closing(sqlite3.connect(f"{url.removeprefix('sqlite://')}-floor", isolation_level=None)) as raw:
        for statement in ("PRAGMA journal_mode = WAL", *PRAGMAS, TABLE):
            raw.execute(statement)
        for _ in range(ROUNDS):
            started = perf_counter()
            raw.execute(INSERT)
            yield perf_counter() - started
