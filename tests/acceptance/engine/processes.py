"""Real processes of the program, started, stopped and killed by a test."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from gnomon.app import open_store
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Execution, ExecutionId, NewExecution
from gnomon.core.jobs.job import Definition, Job, JobId, NewJob
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.time.nominal import first_run, seed_of
from gnomon.core.time.schedule import Schedule, resolved
from gnomon.core.values.document import Document
from gnomon.core.values.ids import IdSource
from gnomon.store.sql_store import SqlStore

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0
KNOWN = "tests.acceptance.engine.jobs:functions"


class GnomonProcess:
    """One `gnomon` process, its lines of log as they come, and the signals it gets."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.lines: list[dict[str, Any]] = []
        self._arrived = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, *arguments: str, environment: Mapping[str, str] | None = None) -> GnomonProcess:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "gnomon.cli",
            *arguments,
            cwd=ROOT,
            # Tests run beside each other, and a port is for one.
            env={**os.environ, "GNOMON_API_PORT": "off", **(environment or {})},
            stderr=asyncio.subprocess.PIPE,
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        return cls(process)

    async def _read(self) -> None:
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            try:
                told = json.loads(line)
            except ValueError:
                told = {"message": line.decode(errors="replace")}
            async with self._arrived:
                self.lines.append(told)
                self._arrived.notify_all()
        async with self._arrived:
            self.lines.append({"message": "(end of log)"})
            self._arrived.notify_all()

    async def says(self, message: str, *, times: int = 1) -> dict[str, Any]:
        """The line with these words, the last of so many. Fails with the whole log if it does not come."""

        def found() -> list[dict[str, Any]]:
            return [line for line in self.lines if message in line["message"]]

        try:
            async with self._arrived, asyncio.timeout(PATIENCE):
                await self._arrived.wait_for(lambda: len(found()) >= times or self.has_ended)
        except TimeoutError:
            pass
        assert len(found()) >= times, f"never said {message!r}:\n{self.log}"
        return found()[times - 1]

    @property
    def has_ended(self) -> bool:
        return bool(self.lines) and self.lines[-1]["message"] == "(end of log)"

    @property
    def log(self) -> str:
        return "\n".join(json.dumps(line) for line in self.lines[-60:])

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, number: signal.Signals) -> None:
        os.killpg(self._process.pid, number)

    async def ended(self) -> int:
        await asyncio.wait_for(self._process.wait(), PATIENCE)
        await self._reading
        assert self._process.returncode is not None
        return self._process.returncode

    async def kill(self) -> None:
        if self._process.returncode is None:
            self.send(signal.SIGCONT)
            self.send(signal.SIGKILL)
            await self._process.wait()
        await self._reading


@dataclass
class Cluster:
    """A store, and the processes that a test lets work on it."""

    url: str
    store: SqlStore
    folder: Path
    stack: AsyncExitStack
    ids: IdSource = field(default_factory=lambda: IdSource(Random()))

    @property
    def sink(self) -> Path:
        return self.folder / "effects.jsonl"

    async def worker(
        self, *, failpoints: str = "", lease: int = 5, slots: int = 4, queues: str = "default"
    ) -> GnomonProcess:
        return await self.start(
            "worker",
            "--app",
            KNOWN,
            "--slots",
            str(slots),
            "--queues",
            queues,
            environment={
                "GNOMON_FAILPOINTS": failpoints,
                "GNOMON_WORKER_LEASE_SECONDS": str(lease),
            },
        )

    async def scheduler(self, *, failpoints: str = "") -> GnomonProcess:
        return await self.start("scheduler", environment={"GNOMON_FAILPOINTS": failpoints})

    async def start(self, command: str, *arguments: str, environment: Mapping[str, str]) -> GnomonProcess:
        process = await GnomonProcess.start(
            command, *arguments, "--database", self.url, "--log-format", "json", environment=environment
        )
        self.stack.push_async_callback(process.kill)
        return process

    async def job(
        self,
        function: str,
        *,
        retry: RetryPolicy | None = None,
        queue: str = "default",
        schedule: Schedule | None = None,
        **arguments: object,
    ) -> Job:
        payload = Document.of({"function": function, "arguments": arguments}, field="payload")
        definition = Definition(
            kind="python",
            payload=payload,
            retry=retry or RetryPolicy(),
            queue=queue,
            schedule=resolved(schedule or Schedule(), now=datetime.now(UTC)),
        )
        return await self.job_of(definition)

    async def job_of(self, definition: Definition) -> Job:
        now = datetime.now(UTC)
        name = f"job-{self.ids.next(now)}"
        next_run = first_run(definition.schedule, now=now, seed=seed_of(DEFAULT_TENANT, name))
        new = NewJob(JobId(self.ids.next(now)), DEFAULT_TENANT, name, definition, next_run)
        [job] = await self.store.jobs.create([new], now=now)
        return job

    async def enqueue(self, job: Job, count: int = 1) -> list[ExecutionId]:
        return await self.enqueue_as(job, self.new_ids(count))

    def new_ids(self, count: int) -> list[ExecutionId]:
        now = datetime.now(UTC)
        return [ExecutionId(self.ids.next(now)) for _ in range(count)]

    async def enqueue_as(self, job: Job, ids: list[ExecutionId]) -> list[ExecutionId]:
        asked = [NewExecution(each, job.id) for each in ids]
        await self.store.executions.enqueue(DEFAULT_TENANT, asked, now=datetime.now(UTC))
        return ids

    async def get(self, run: ExecutionId) -> Execution:
        return await self.store.executions.get(DEFAULT_TENANT, run, now=datetime.now(UTC))

    async def until(
        self, run: ExecutionId, holds: Callable[[Execution], bool], *, patience: float = PATIENCE
    ) -> Execution:
        try:
            async with asyncio.timeout(patience):
                while not holds(found := await self.get(run)):  # noqa: ASYNC110 - others do it.
                    await asyncio.sleep(0.05)
                return found
        except TimeoutError:
            raise AssertionError(f"waited in vain: {await self.get(run)}") from None

    async def ended(self, run: ExecutionId, *, patience: float = PATIENCE) -> Execution:
        return await self.until(run, lambda execution: execution.status.is_final, patience=patience)

    def effects(self, run: ExecutionId) -> list[dict[str, Any]]:
        return [line for line in self.all_effects() if line["execution"] == str(run)]

    def all_effects(self) -> list[dict[str, Any]]:
        if not self.sink.exists():
            return []
        return list(map(json.loads, self.sink.read_text(encoding="utf-8").splitlines()))


@asynccontextmanager
async def open_cluster(url: str, folder: Path) -> AsyncIterator[Cluster]:
    async with AsyncExitStack() as stack:
        store = await open_store(url)
        stack.push_async_callback(store.close)
        yield Cluster(url, store, folder, stack)
