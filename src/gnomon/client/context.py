"""What every noun of a client works with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from gnomon.client.executions.ends import Bells, Ends, Rooms
from gnomon.client.workflows.places import TaskNames
from gnomon.core.access.tenants import DEFAULT_TENANT, TenantId
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.jobs.job import Definition
from gnomon.core.jobs.kinds import Kinds
from gnomon.core.values.ids import IdSource
from gnomon.core.workflows.graph import GraphLimits
from gnomon.engine.clock import Clock
from gnomon.store.databases.hints import Topic
from gnomon.store.protocols.workflows import WorkflowStore


def accept(_: Definition) -> None:
    """Where no handlers are known, a payload is the business of whoever runs it."""


def tell_nobody(_: Topic) -> None:
    """Where nobody listens, polling finds out."""


def no_misfit() -> str | None:
    """Where nothing watches the schema."""
    return None


def call_now(call: Callable[..., None], *arguments: object) -> None:
    """Where the caller runs on the loop on which others wait."""
    call(*arguments)


@dataclass(frozen=True, slots=True)
class ClientContext:
    """`check` refuses a payload that no handler could run; `announce` is called after a commit.

    `bells` ring when something was announced, here or elsewhere. What waits by `ends`, `bells` and `rooms`
    waits on one loop; `at_home` makes a call there. `misfit` says why the schema does not fit, if so.
    `kinds` are those that may be saved.
    """

    store: WorkflowStore
    clock: Clock
    ids: IdSource
    check: Callable[[Definition], None] = accept
    announce: Callable[[Topic], None] = tell_nobody
    ends: Ends = field(default_factory=Ends)
    bells: Bells = field(default_factory=Bells)
    rooms: Rooms = field(default_factory=Rooms)
    at_home: Callable[..., object] = call_now
    misfit: Callable[[], str | None] = no_misfit
    tenant_id: TenantId = DEFAULT_TENANT
    graph_limits: GraphLimits = field(default_factory=GraphLimits)
    task_names: TaskNames = field(default_factory=TaskNames)
    kinds: Kinds = field(default_factory=Kinds)

    def announce_due(self, dues: Iterable[datetime | None], *, now: datetime) -> None:
        """Of what was enqueued or put back. None: at once."""
        are_later = {due is not None and due > now for due in dues}
        if False in are_later:
            self.announce(Topic.WORK)
        if True in are_later:
            self.announce(Topic.LATER)

    def new_execution_id(self, now: datetime) -> ExecutionId:
        return ExecutionId(self.ids.next(now))
