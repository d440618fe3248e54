"""All nouns of a client on one store, for one tenant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from gnomon.client.access.keys import Keys
from gnomon.client.access.tenants import Tenants
from gnomon.client.context import ClientContext
from gnomon.client.executions.dead_letters import DeadLetters
from gnomon.client.executions.executions import Executions
from gnomon.client.executions.explaining import Explanations
from gnomon.client.executions.leases import WorkerLeases
from gnomon.client.jobs.calendars import Calendars
from gnomon.client.jobs.jobs import Jobs
from gnomon.client.operations.workers import Workers
from gnomon.client.workflows.backfills import Backfills
from gnomon.client.workflows.dags import Dags
from gnomon.client.workflows.runs import Runs
from gnomon.core.access.tenants import TenantId
from gnomon.core.values.ids import IdSource
from gnomon.store.databases.hints import Topic
from gnomon.store.protocols.workflows import WorkflowStore


class Client:
    def __init__(self, context: ClientContext) -> None:
        self._context = context
        self.jobs = Jobs(context)
        self.calendars = Calendars(context)
        self.dags = Dags(context)
        self.runs = Runs(context)
        self.backfills = Backfills(context)
        self.executions = Executions(context)
        self.dead_letters = DeadLetters(context)
        self.explaining = Explanations(context)
        self.keys = Keys(context)
        self.leases = WorkerLeases(context)
        self.tenants = Tenants(context)
        self.workers = Workers(context)

    @property
    def tenant_id(self) -> TenantId:
        return self._context.tenant_id

    def now(self) -> datetime:
        """What time it is for the store."""
        return self._context.clock.now()

    def new_id(self) -> UUID:
        return self._context.ids.next(self.now())

    def of(self, tenant_id: TenantId) -> Client:
        """The same verbs for another tenant. Cheap: one for each request is fine."""
        return Client(replace(self._context, tenant_id=tenant_id))

    def on(
        self,
        store: WorkflowStore,
        ids: IdSource,
        *,
        announce: Callable[[Topic], None],
        at_home: Callable[..., object],
    ) -> Client:
        """The same verbs on another store, in a loop of its own, which must not wait by `ends` or `bells`."""
        return Client(replace(self._context, store=store, ids=ids, announce=announce, at_home=at_home))
