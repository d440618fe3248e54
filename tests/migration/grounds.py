"""A database of each kind that is still empty, and what the tests do with it, whatever kind it is."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import asyncpg

from tests.migration.shape import Shape, postgres_shape, sqlite_shape
from tests.postgres import PostgresServer

GNOMON = Path(sys.executable).with_name("gnomon")


class Ground(Protocol):
    @property
    def url(self) -> str: ...
    @property
    def dialect(self) -> str: ...

    async def shape(self) -> Shape: ...

    async def execute(self, sql: str) -> None: ...

    def run_script(self, script: str) -> None:
        """As a person would: through psql or sqlite3."""


@dataclass(frozen=True)
class PostgresGround:
    url: str
    server: PostgresServer
    dialect: str = "postgres"

    async def shape(self) -> Shape:
        return await postgres_shape(self.url)

    async def execute(self, sql: str) -> None:
        connection = await asyncpg.connect(self.url)
        try:
            await connection.execute(sql)
        finally:
            await connection.close()

    def run_script(self, script: str) -> None:
        psql = self.server.installation.program("psql")
        run([str(psql), "--quiet", "--no-psqlrc", self.url], script)


@dataclass(frozen=True)
class SqliteGround:
    path: Path
    dialect: str = "sqlite"

    @property
    def url(self) -> str:
        return f"sqlite://{self.path}"

    async def shape(self) -> Shape:
        return sqlite_shape(self.path)

    async def execute(self, sql: str) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.executescript(sql)

    def run_script(self, script: str) -> None:
        if shell := shutil.which("sqlite3"):
            run([shell, str(self.path)], script)
            return
        # The shell is not part of Python. Its own command in the script means nothing to the library.
        with closing(sqlite3.connect(self.path)) as connection:
            connection.executescript(script.removeprefix(".bail on"))


def gnomon(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(GNOMON), *words], capture_output=True, text=True, check=False, timeout=60)


def run(command: list[str], script: str) -> None:
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
