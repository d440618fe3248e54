"""A client on SQLite in memory and on a real PostgreSQL, with a clock that is turned by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

import pytest

from gnomon.app import open_database
from gnomon.client import Client, Ends
from gnomon.client.context import ClientContext
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import WorkerId
from gnomon.core.executions.lease import ClaimRequest, Leased
from gnomon.core.executions.lifecycle import Outcome, after
from gnomon.core.jobs.job import Definition
from gnomon.core.time.schedule import Schedule
from gnomon.core.values.ids import IdSource
from gnomon.engine.schedulers.scheduler import Scheduler
from gnomon.engine.telemetry import Telemetry
from gnomon.errors import InvalidInput
from gnomon.store.databases.hints import Topic
from gnomon.store.protocols.store import Store
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore
from gnomon.testing import ManualClock
from tests.conftest import BUNDLED, StartServer
from tests.contract.grounds import Ground, PostgresGround

LEASE = timedelta(seconds=20)
FindGround = Callable[[str], Awaitable[Ground]]


@dataclass
class Office:
    """A client, the store behind it, and what it announced."""

    store: SqlStore
    clock: ManualClock = field(default_factory=ManualClock)
    ids: IdSource = field(default_factory=lambda: IdSource(Random(1)))
    ends: Ends = field(default_factory=Ends)
    told: list[Topic] = field(default_factory=list)

    @property
    def client(self) -> Client:
        return Client(
            ClientContext(
                self.store, self.clock, self.ids, check=check, announce=self.told.append, ends=self.ends
            )
        )

    def scheduler(self) -> Scheduler:
        return Scheduler(
            schedules=self.store.schedules,
            clock=self.clock,
            ids=self.ids,
            telemetry=Telemetry(),
            fired=lambda: None,
        )

    async def claim(self) -> list[Leased]:
        now = self.clock.now()
        request = ClaimRequest(self.ids.next(now), WorkerId("ada"), frozenset({"report"}), limit=100)
        return list(await self.store.executions.claim(request, now=now, lease_until=now + LEASE))

    async def end(self, leased: Leased, outcome: Outcome) -> None:
        now = self.clock.now()
        change = after(leased, outcome, now=now, jitter=0.5)
        await self.store.executions.apply([Decision(leased.claim, change)], now=now)
        self.ends.tell(leased.claim.execution_id)


def check(definition: Definition) -> None:
    if definition.payload.value == "bad":
        raise InvalidInput("payload", "is bad.")


def report(schedule: Schedule | None = None) -> Definition:
    return Definition("report", schedule=schedule or Schedule())


@pytest.fixture(scope="session")
def databases(postgres: StartServer) -> FindGround:
    """A function from a name to a database that is emptied before each use, prepared at the first call."""
    prepared: dict[str, Ground] = {}

    async def find(name: str) -> Ground:
        if name not in prepared:
            prepared[name] = PostgresGround(postgres(BUNDLED), "client")
            await prepared[name].prepare()
        return prepared[name]

    return find


@pytest.fixture(params=["sqlite", "postgres"])
async def office(request: pytest.FixtureRequest, databases: FindGround) -> AsyncIterator[Office]:
    store: Store
    if request.param == "sqlite":
        database = await open_database("sqlite://:memory:")
        await migrate(database, now=ManualClock().now())
        store = SqlStore(database, rescan=timedelta(0))
    else:
        store = await (await databases("postgres")).fresh(rescan=timedelta(0))
    assert isinstance(store, SqlStore)
    yield Office(store)
    await store.close()
