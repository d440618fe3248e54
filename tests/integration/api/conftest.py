"""The API without a socket, on SQLite in memory and on a real PostgreSQL, with a clock turned by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from random import Random
from typing import Any

import httpx
import pytest

from gnomon.api import Api, application
from gnomon.app import open_database
from gnomon.client import Client, Ends
from gnomon.client.context import ClientContext
from gnomon.client.executions.ends import Bells
from gnomon.core.access.tenants import DEFAULT_TENANT, Tenant, TenantId
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import WorkerId
from gnomon.core.executions.lease import ClaimRequest, Leased
from gnomon.core.executions.lifecycle import Outcome, after
from gnomon.core.jobs.kinds import Kinds
from gnomon.core.operations.workers import Registration
from gnomon.core.values.ids import IdSource
from gnomon.engine.schedulers.scheduler import Scheduler
from gnomon.engine.telemetry import Telemetry
from gnomon.handlers.discovery import discover
from gnomon.handlers.registry import Registry
from gnomon.health.metrics import Metrics
from gnomon.health.vitals import Vitals
from gnomon.settings import ApiSettings, HandlerSettings
from gnomon.store.databases.hints import Topic
from gnomon.store.protocols.store import Store
from gnomon.store.schema.migrations import migrate
from gnomon.store.sql_store import SqlStore
from gnomon.testing import ManualClock
from tests.conftest import BUNDLED, StartServer
from tests.contract.grounds import Ground, PostgresGround
from tests.integration.api.conformance import conforms

LEASE = timedelta(seconds=20)
BASE = "http://gnomon.test"
FindGround = Callable[[str], Awaitable[Ground]]
UNLIMITED = ApiSettings(submissions_per_minute=None, queries_per_minute=None, heartbeats_per_minute=None)


@dataclass
class Office:
    """An API, the store behind it, and hands to do what a scheduler and a worker would do."""

    store: SqlStore
    handlers: Registry
    clock: ManualClock = field(default_factory=ManualClock)
    ids: IdSource = field(default_factory=lambda: IdSource(Random(1)))
    ends: Ends = field(default_factory=Ends)
    bells: Bells = field(default_factory=Bells)
    told: list[Topic] = field(default_factory=list)
    settings: ApiSettings = UNLIMITED
    kinds: Kinds = field(default_factory=Kinds)
    http: httpx.AsyncClient = field(init=False)
    api: Api = field(init=False)
    app: Any = field(init=False)

    @property
    def client(self) -> Client:
        return Client(
            ClientContext(
                self.store,
                self.clock,
                self.ids,
                check=self.handlers.check,
                announce=self.announce,
                ends=self.ends,
                bells=self.bells,
                kinds=self.kinds,
            )
        )

    def announce(self, topic: Topic) -> None:
        self.told.append(topic)
        self.bells.ring(topic)

    async def open(self) -> None:
        numbers = count(1)

        async def schema() -> None:
            return None

        async def clock() -> Any:
            return self.clock.now()

        self.api = Api(
            client=self.client,
            vitals=Vitals(self.clock.now, clock, self.store.schedules, schema),
            settings=self.settings,
            new_request_id=lambda: f"req_{next(numbers)}",
            events=self.store.events,
            reports=self.store.reports,
            metrics=Metrics(),
            version="test",
        )
        self.app = application(self.api)
        self.http = httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app),
            base_url=BASE,
            headers=await self.key("admin"),
            event_hooks={"response": [conforms]},
        )

    async def key(self, *scopes: str, tenant_id: TenantId = DEFAULT_TENANT) -> dict[str, str]:
        new = await self.client.of(tenant_id).keys.create("test", scopes)
        return {"Authorization": f"Bearer {new.text}"}

    async def other_tenant(self) -> TenantId:
        tenant = TenantId(self.ids.next(self.clock.now()))
        await self.store.tenants.save(Tenant(tenant, f"tenant {tenant}"), now=self.clock.now())
        return tenant

    async def job(self, **fields: Any) -> dict[str, Any]:
        answer = await self.http.post("/v1/jobs", json={"name": "report", "kind": "report", **fields})
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def run(self, job_id: str, **fields: Any) -> dict[str, Any]:
        answer = await self.http.post(f"/v1/jobs/{job_id}/trigger", json=fields)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    # What a scheduler and a worker do ------------------------------------------------------------------

    async def fire(self) -> None:
        scheduler = Scheduler(
            schedules=self.store.schedules,
            clock=self.clock,
            ids=self.ids,
            telemetry=Telemetry(),
            fired=lambda: None,
        )
        await scheduler.step()

    async def register(self, name: str = "ada", **fields: Any) -> Registration:
        kinds = fields.pop("kinds", frozenset({"report"}))
        boot = self.ids.next(self.clock.now())
        worker = Registration(WorkerId(name), boot, "host", fields.pop("slots", 10), kinds, **fields)
        await self.store.workers.register(worker, now=self.clock.now())
        return worker

    async def enrol(self, name: str = "ada", **fields: Any) -> dict[str, Any]:
        """Register over HTTP, with the key of the office."""
        form = {"worker_id": name, "kinds": ["report"], "capacity": 10, **fields}
        answer = await self.http.post("/v1/workers", json=form)
        assert answer.status_code == 200, answer.text
        known: dict[str, Any] = answer.json()
        return known

    async def claim(
        self, worker: str = "ada", *, limit: int = 100, kinds: Iterable[str] = ("report",)
    ) -> list[Leased]:
        now = self.clock.now()
        request = ClaimRequest(self.ids.next(now), WorkerId(worker), frozenset(kinds), limit=limit)
        return list(await self.store.executions.claim(request, now=now, lease_until=now + LEASE))

    async def end(self, leased: Leased, outcome: Outcome) -> None:
        now = self.clock.now()
        change = after(leased, outcome, now=now, jitter=0.5)
        await self.store.executions.apply([Decision(leased.claim, change)], now=now)
        self.ends.tell(leased.claim.execution_id)


def problem(answer: httpx.Response) -> tuple[int, str]:
    """The status and the code of an error; and that it is one in the envelope, with nothing that leaks."""
    error = answer.json()["error"]
    assert error.keys() == {"code", "message", "details", "request_id"}
    assert error["request_id"] == answer.headers["x-request-id"]
    for secret in ("Traceback", "asyncpg", "sqlite3", "SELECT ", "INSERT ", ".py"):
        assert secret not in answer.text
    return answer.status_code, error["code"]


@pytest.fixture(scope="session")
def databases(postgres: StartServer) -> FindGround:
    """A function from a name to a database that is emptied before each use, prepared at the first call."""
    prepared: dict[str, Ground] = {}

    async def find(name: str) -> Ground:
        if name not in prepared:
            prepared[name] = PostgresGround(postgres(BUNDLED), "api")
            await prepared[name].prepare()
        return prepared[name]

    return find


@pytest.fixture(scope="session")
def handlers() -> Registry:
    return discover(HandlerSettings()).registry


async def memory() -> SqlStore:
    database = await open_database("sqlite://:memory:")
    await migrate(database, now=ManualClock().now())
    return SqlStore(database, rescan=timedelta(0))


@pytest.fixture(params=["sqlite", "postgres"])
async def office(
    request: pytest.FixtureRequest, databases: FindGround, handlers: Registry
) -> AsyncIterator[Office]:
    store: Store
    if request.param == "sqlite":
        store = await memory()
    else:
        store = await (await databases("postgres")).fresh(rescan=timedelta(0))
    assert isinstance(store, SqlStore)
    office = Office(store, handlers)
    await office.open()
    yield office
    await office.http.aclose()
    await store.close()


@pytest.fixture
async def small_office(handlers: Registry) -> AsyncIterator[Office]:
    """On SQLite alone, for what does not depend on the store; few calls a minute are allowed."""
    few = replace(UNLIMITED, submissions_per_minute=5, queries_per_minute=5, body_bytes_max=4096)
    office = Office(await memory(), handlers, settings=few)
    await office.open()
    yield office
    await office.http.aclose()
    await office.store.close()
