"""PgBouncer in front of a test server, in transaction mode, with fewer servers than clients."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

from tests.postgres import POLL_SECONDS, USER, PostgresServer, free_port, give, spawn

START_SECONDS_MAX = 20.0
# Debian keeps it where only root's path leads.
PLACES = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin"])


def pgbouncer_program() -> str | None:
    return shutil.which("pgbouncer", path=PLACES)


class Pooler:
    """Use it as a context manager."""

    def __init__(self, server: PostgresServer, *, servers_max: int, ignores: str = "") -> None:
        self.server = server
        self.ignores = ignores
        self.servers_max = servers_max
        self.port = 0
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.port = free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="gnomon-pooler-"))
        give(self._folder)
        settings = self._folder / "pgbouncer.ini"
        settings.write_text(self._settings())
        give(settings)
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self) -> None:
        program = pgbouncer_program()
        assert program is not None
        assert self._folder is not None
        log = self._folder / "log"
        self._process = spawn([program, self._folder / "pgbouncer.ini"], self._folder, log=log)
        if not self._accepts():
            raise AssertionError(f"pgbouncer did not start:\n{log.read_text(errors='replace')}")

    def restart(self) -> None:
        """As after a crash: everybody's connection is gone."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._start()

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        assert self._folder is not None
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder)

    def dsn(self, database: str) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    def _settings(self) -> str:
        return f"""
[databases]
* = host={self.server.folder} port={self.server.port} user={USER}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
ignore_startup_parameters = {self.ignores}
default_pool_size = {self.servers_max}
max_client_conn = 100
"""

    def _accepts(self) -> bool:
        assert self._process is not None
        deadline = time.monotonic() + START_SECONDS_MAX
        while self._process.poll() is None and time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return True
            time.sleep(POLL_SECONDS)
        return False
