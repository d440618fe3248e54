"""Programs that ask for work, and ask again when nobody answers, until they know.

They go through the store today. An API node would be another way to the same verbs: see `Client.open`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from campaign.workload import Work
from gnomon.app import open_store
from gnomon.client import Ask
from gnomon.client import Client as StoreClient
from gnomon.client.surroundings import Surroundings
from gnomon.core.execution import ExecutionId
from gnomon.core.idempotency import Idempotency
from gnomon.core.ids import IdSource
from gnomon.core.job import JobId
from gnomon.engine.clock import StoreClock
from gnomon.errors import GnomonError, StoreError, StoreUnavailable
from gnomon.proof import events
from gnomon.proof.history import History
from gnomon.store.hints import Topic
from gnomon.store.postgres_hints import PostgresHints
from gnomon.store.sql_store import SqlStore

PATIENCE = 12.0  # Seconds that an answer may take, before it counts as lost.
TRY_AGAIN = 0.3
LOOKS = 0.1  # A part of what was acknowledged is looked for at once.
CANCELS = {"unwanted": (0.5, 6.0), "long": (1.0, 30.0), "plain": (0.0, 0.02)}
CANCEL_CHANCE = {"unwanted": 1.0, "long": 0.1, "plain": 0.05}
PAUSED_SECONDS = 4.0
CHORES_EVERY = 15.0


@dataclass
class Client:
    name: str
    url: str
    history: History
    jobs: Mapping[str, JobId]
    works: Sequence[Work]
    random: Random
    rate: float  # Questions a second.
    acknowledged: int = 0
    unanswered: int = 0
    _store: SqlStore | None = None
    _hints: PostgresHints | None = None
    _client: StoreClient | None = None
    _later: set[asyncio.Task[None]] = field(default_factory=set)

    async def open(self) -> None:
        """Before anything breaks. From then on the store reconnects by itself."""
        self._store = await open_store(self.url)
        self._hints = PostgresHints(self.url)
        clock = StoreClock(self._store.clock)
        await clock.learn()
        ids = IdSource(Random(self.random.getrandbits(128)))
        self._client = StoreClient(
            Surroundings(self._store, clock, ids, announce=lambda topic: self._announce(topic))
        )

    def _announce(self, topic: Topic) -> None:
        assert self._hints is not None
        self._hints.announce(topic)

    async def ask_until(self, enough: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            number = 0
            chores = asyncio.create_task(self._chores(enough))
            while not enough.is_set():
                await asyncio.sleep(self.random.expovariate(self.rate))
                number += 1
                group.create_task(self._submit(f"{self.name}-{number}"))
            await chores
        await asyncio.gather(*self._later, return_exceptions=True)

    async def close(self) -> None:
        if self._hints is not None:
            await self._hints.close()
        if self._store is not None:
            await self._store.close()

    async def _submit(self, key: str) -> None:
        """With a key, so that asking again is safe; until there is an answer."""
        assert self._client is not None
        work = self.random.choices(self.works, [work.share for work in self.works])[0]
        name = work.draft.name
        told = {"key": key, "job": str(self.jobs[name]), "body": name}
        self.history.write(events.SubmitInvoke, **told)
        while True:
            try:
                async with asyncio.timeout(PATIENCE):
                    made = await self._client.executions.enqueue(
                        Ask(self.jobs[name]), idempotency=Idempotency(key, name)
                    )
                break
            except (StoreUnavailable, TimeoutError):
                self.unanswered += 1
                self.history.write(events.SubmitInfo, **told)
                await asyncio.sleep(TRY_AGAIN)
        self.acknowledged += 1
        self.history.write(events.SubmitOk, run=str(made.id), **told)
        if self.random.random() < LOOKS:
            await self._look(made.id)
        if self.random.random() < CANCEL_CHANCE.get(name, 0.0):
            later = asyncio.create_task(self._cancel(made.id, self.random.uniform(*CANCELS[name])))
            self._later.add(later)

    async def _look(self, run: ExecutionId) -> None:
        assert self._client is not None
        found = True
        try:
            await self._client.executions.get(run)
        except StoreUnavailable:
            return
        except GnomonError:
            found = False
        self.history.write(events.Look, run=str(run), found=found)

    async def _cancel(self, run: ExecutionId, delay: float) -> None:
        assert self._client is not None
        await asyncio.sleep(delay)
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self._client.executions.cancel(run)

    async def _chores(self, enough: asyncio.Event) -> None:
        """What people do: pause a job for a moment, send dead letters back."""
        assert self._client is not None
        while not enough.is_set():
            await asyncio.sleep(CHORES_EVERY * self.random.uniform(0.5, 1.5))
            for verb in (self._client.jobs.pause, self._client.jobs.resume):
                await self._insist(lambda verb=verb: verb(self.jobs["cron-FIRE_NOW"]))
                await asyncio.sleep(PAUSED_SECONDS)
            await self._insist(
                lambda: self._client.dead_letters.redrive_job(self.jobs["hopeless"], limit=2), tries=1
            )

    async def _insist(self, ask, tries: int = 100) -> None:
        for _ in range(tries):
            try:
                async with asyncio.timeout(PATIENCE):
                    await ask()
                return
            except (StoreError, TimeoutError):
                await asyncio.sleep(TRY_AGAIN)
