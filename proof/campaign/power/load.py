"""Work on an SQLite file that says what was acknowledged at once: `python -m proof.campaign.power.load`."""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from gnomon.app import open_database, open_store
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import (
    AttemptOutcome,
    ExecutionId,
    ExecutionStatus,
    NewExecution,
    WorkerId,
)
from gnomon.core.executions.lease import LEASE, ClaimRequest
from gnomon.core.executions.lifecycle import Change
from gnomon.core.jobs.job import Definition, JobId, NewJob
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.ids import IdSource
from gnomon.store.protocols.changes import Applied
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore

FILE, ACKNOWLEDGED = "gnomon.db", "acknowledged"
DONE = Change(ExecutionStatus.COMPLETED, AttemptOutcome.COMPLETED, 1)
KIND = "load"


class Load:
    def __init__(self, store: SqlStore, said: int, calls: int) -> None:
        self.store = store
        self.said = said
        self.calls = calls
        self.ids = IdSource(Random(7))
        self.job = JobId(self.ids.next(_now()))

    async def run(self) -> None:
        new = NewJob(self.job, DEFAULT_TENANT, "load", Definition(KIND), None)
        await self.store.jobs.create([new], now=_now())
        await asyncio.gather(self.ask("a"), self.ask("b"), self.work())

    async def ask(self, name: str) -> None:
        for number in range(self.calls):
            ids = [ExecutionId(self.ids.next(_now())) for _ in range(1 + number % 4)]
            key = Idempotency(f"{name}-{number}", name)
            asked = [NewExecution(one, self.job) for one in ids]
            await self.store.executions.enqueue(DEFAULT_TENANT, asked, now=_now(), idempotency=key)
            for one in ids:
                self.say("kept", one)

    async def work(self) -> None:
        for _ in range(self.calls):
            now = _now()
            request = ClaimRequest(
                self.ids.next(now), WorkerId("w"), frozenset({KIND}), frozenset({"default"}), limit=5
            )
            leased = await self.store.executions.claim(request, now=now, lease_until=now + LEASE)
            for one in leased:
                self.say("claimed", one.claim.execution_id)
            answers = await self.store.executions.apply(
                [Decision(one.claim, DONE) for one in leased], now=_now()
            )
            assert set(answers) <= {Applied.APPLIED}
            for one in leased:
                self.say("done", one.claim.execution_id)

    def say(self, word: str, execution_id: ExecutionId) -> None:
        os.write(self.said, f"{word} {execution_id}\n".encode())


def _now() -> datetime:
    return datetime.now(UTC)


async def main(folder: Path, calls: int) -> None:
    url = f"sqlite://{folder / FILE}"
    database = await open_database(url)
    await migrate(database, now=_now())
    await database.close()
    store = await open_store(url)
    said = os.open(folder / ACKNOWLEDGED, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(said, b"ready\n")
    await Load(store, said, calls).run()
    # Without a good-bye: closing would tidy up what a power cut leaves behind.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
