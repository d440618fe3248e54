"""Which task of which run an execution is for, by name: what lists show of executions of workflows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.run import RunId
from gnomon.store.protocols.workflows import WorkflowStore

REMEMBERED_MAX = 64  # Revisions. Those of 20,000 tasks, too: a name is a few bytes.


class NamedPlace(NamedTuple):
    """`item` is the place in a fan-out."""

    run_id: RunId
    task: str
    item: int | None

    @property
    def label(self) -> str:
        return self.task if self.item is None else f"{self.task}[{self.item}]"


class _Task(msgspec.Struct):
    name: str


class _Definition(msgspec.Struct):
    tasks: list[_Task]


_read = msgspec.json.Decoder(_Definition).decode


@dataclass(frozen=True, slots=True)
class TaskNames:
    """Names of the tasks of a revision, which never change. The definition itself is not remembered."""

    _known: dict[tuple[JobId, int], Sequence[str]] = field(default_factory=dict)

    async def of(
        self, store: WorkflowStore, tenant_id: TenantId, dag_id: JobId, revision: int
    ) -> Sequence[str]:
        """By place. Raises DagNotFound."""
        key = (dag_id, revision)
        if key not in self._known:
            kept = await store.dags.revision(tenant_id, dag_id, revision)
            while len(self._known) >= REMEMBERED_MAX:
                del self._known[next(iter(self._known))]
            self._known[key] = tuple(task.name for task in _read(kept.definition.text).tasks)
        return self._known[key]


async def named_places(
    store: WorkflowStore, names: TaskNames, tenant_id: TenantId, execution_ids: Collection[ExecutionId]
) -> Mapping[ExecutionId, NamedPlace]:
    """Those of these executions that are for tasks of runs."""
    found = await store.runs.places(tenant_id, execution_ids)
    return {
        execution_id: NamedPlace(
            place.run_id,
            (await names.of(store, tenant_id, place.dag_id, place.revision))[place.task],
            place.item,
        )
        for execution_id, place in found.items()
    }


@dataclass(frozen=True, slots=True)
class TaskLookup:
    """Which task an execution is for, for those who ask about one at a time."""

    _store: WorkflowStore
    _names: TaskNames = field(default_factory=TaskNames)

    async def name(self, tenant_id: TenantId, execution_id: ExecutionId) -> str | None:
        """None if it is not for a task, or retention has dropped it."""
        found = await named_places(self._store, self._names, tenant_id, [execution_id])
        return found[execution_id].task if execution_id in found else None
