"""Plans by workflow and base, remembered: they never change."""

from __future__ import annotations

import asyncio
from uuid import UUID

from gnomon.core.values.document import Document
from gnomon.core.workflows.document import read_workflow
from gnomon.core.workflows.graph import GraphLimits
from gnomon.core.workflows.workflow import Plan
from gnomon.store.databases.database import Session

# Of the largest workflows, each takes some tens of megabytes; of usual ones, nearly nothing.
TASKS_REMEMBERED_MAX = 200_000
# What was kept was checked by the limits of its day.
_NO_LIMITS = GraphLimits(tasks_max=1 << 30, edges_max=1 << 30)


LOOP_CHARS_MAX = 64 * 1024


class UnreadablePlan(Exception):
    """A definition that was kept and that this release cannot read: damaged, or made by another one."""


class Plans:
    def __init__(self) -> None:
        self._known: dict[tuple[UUID, int], Plan] = {}
        self._tasks = 0

    def known(self, dag_id: UUID, base: int) -> Plan | None:
        return self._known.get((dag_id, base))

    async def get(self, session: Session, dag_id: UUID, base: int) -> Plan:
        """Raises UnreadablePlan."""
        plan = self._known.get((dag_id, base))
        if plan is None:
            rows = await session.fetch("dag_plan", dag_id=dag_id, base=base)
            text: str = rows[0]["definition"]
            try:
                # A large one takes a second to read. The loop goes on meanwhile.
                plan = await asyncio.to_thread(_plan, text) if len(text) > LOOP_CHARS_MAX else _plan(text)
            except Exception as error:  # It was checked when it was kept, so this can be anything.
                raise UnreadablePlan(f"its definition cannot be read: {error}") from error
            self._remember(dag_id, base, plan)
        return plan

    def _remember(self, dag_id: UUID, base: int, plan: Plan) -> None:
        self._tasks += len(plan.graph.names)
        if self._tasks > TASKS_REMEMBERED_MAX:
            # Seldom, so simply.
            self._known.clear()
            self._tasks = len(plan.graph.names)
        self._known[dag_id, base] = plan


def _plan(text: str) -> Plan:
    return Plan.of(read_workflow(Document(text).value), _NO_LIMITS)
