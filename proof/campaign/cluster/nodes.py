"""The processes under test: started, watched, killed and started again. The campaign is their supervisor."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from proof.campaign.faults.proxy import PgProxy

ROOT = Path(__file__).parents[3]
LOOK_AGAIN = 0.02
START_PATIENCE = 30.0
STARTS_MAX = 30
START_AGAIN = 0.2
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
RIGHT = "+0"
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


@dataclass
class Node:
    """One place in the cluster. Each boot of it is another process, and another source in the history.

    `began` is called when a boot is up, `ended` when it is over; `is_expected` if the campaign wanted that.
    """

    name: str
    role: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    address: str  # With {port} where the port of the proxy goes.
    proxy: PgProxy
    folder: Path
    is_pooled: bool = False
    boots: int = 0
    false_starts: int = 0
    is_expected: bool = False
    began: Callable[[Node], None] = lambda node: None
    ended: Callable[[Node, int], None] = lambda node, code: None
    process: subprocess.Popen[bytes] | None = None
    _watch: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def source(self) -> str:
        return f"{self.name}/{self.boots}"

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.{self.boots}.log"

    @property
    def clock_file(self) -> Path:
        return self.folder / f"{self.name}.clock"

    @property
    def is_up(self) -> bool:
        return self.process is not None and self.process.poll() is None

    async def start(self) -> None:
        """Returns when it says that it is up. Who cannot reach the database yet is started again."""
        for _ in range(STARTS_MAX):
            self._spawn()
            self._watch = asyncio.create_task(self._see_it_end())
            if await self._says("is up", START_PATIENCE):
                self.is_expected = False
                self.began(self)
                return
            self.false_starts += 1
            await self.kill()
            await asyncio.sleep(START_AGAIN)
        raise RuntimeError(f"{self.name} did not start:\n{self.log.read_text(errors='replace')}")

    def _spawn(self) -> None:
        self.boots += 1
        self.is_expected = True  # Until it is up, it may give up.
        if not self.clock_file.exists():
            self.set_clock(RIGHT)
        options = {"application_name": self.source} | ({"pooler": "transaction"} if self.is_pooled else {})
        url = f"{self.address.format(port=self.proxy.listens_at)}?{urlencode(options)}"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "gnomon.cli", self.role),
                    *("--database", url, "--log-format", "json", *self.arguments),
                ],
                cwd=ROOT,
                env={**os.environ, **self.environment, **self._clock(), "CAMPAIGN_SOURCE": self.source},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_us,
            )

    def _clock(self) -> Mapping[str, str]:
        """A wall clock that a file sets, and a monotonic one that nothing does."""
        if FAKETIME is None:
            return {}
        return {
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(self.clock_file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }

    def set_clock(self, offset: str) -> None:
        self.clock_file.write_text(offset)

    async def _says(self, words: str, patience: float) -> bool:
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if words in self.log.read_text(errors="replace"):
                return True
            if not self.is_up:
                return False
            await asyncio.sleep(LOOK_AGAIN)
        return False

    async def _see_it_end(self) -> None:
        self.ended(self, await self.gone())

    async def gone(self) -> int:
        assert self.process is not None
        while (code := self.process.poll()) is None:  # noqa: ASYNC110 - no child of this loop.
            await asyncio.sleep(LOOK_AGAIN)
        return code

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        if self.is_up:
            os.killpg(self.process.pid, number)

    async def kill(self) -> None:
        """Without a word. Whoever does this wanted it."""
        self.is_expected = True
        if self.process is not None:
            self.send(signal.SIGKILL)
            await self._is_over()

    async def drain(self) -> int:
        self.is_expected = True
        self.send(signal.SIGTERM)
        return await self._is_over()

    async def _is_over(self) -> int:
        """Gone, and written down as gone."""
        code = await self.gone()
        if self._watch is not None:
            await self._watch
            self._watch = None
        return code


def die_with_us() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
