"""Forgetting: all at once, since dictionaries have no limits. What the model keeps no time of, it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.retention import RetentionPolicy, droppable
from gnomon.store.protocols.operations import Forgotten
from tests.contract.model.state import State


@dataclass(frozen=True, slots=True)
class ModelUpkeep:
    state: State

    async def make_months(self, *, now: datetime) -> Sequence[str]:
        return []

    async def drop_month(self, policy: RetentionPolicy, *, now: datetime, limit: int) -> Forgotten:
        return Forgotten(0)

    async def forget_ended(
        self, policy: RetentionPolicy, *, now: datetime, limit: int, after: UUID | None = None
    ) -> Forgotten:
        before = droppable(policy, now=now)
        spent = [
            run.id
            for run in self.state.runs.values()
            if run.end is not None and run.finished_at is not None and run.finished_at < before[run.end]
        ]
        for execution_id in spent:
            self._forget(execution_id)
        return Forgotten(len(spent))

    async def forget_checkpoints(
        self, *, ended_before: datetime, limit: int, after: UUID | None = None
    ) -> Forgotten:
        ends = {one: self.state.runs[one].finished_at for one in self.state.checkpoints}
        spent = [one for one, at in ends.items() if at is not None and at < ended_before]
        for execution_id in spent:
            del self.state.checkpoints[execution_id]
        return Forgotten(len(spent))

    async def forget_requests(self, *, before: datetime, limit: int) -> Forgotten:
        spent = [one for one, at in self.state.requests.items() if at < before]
        for request_id in spent:
            del self.state.requests[request_id]
        return Forgotten(len(spent))

    async def forget_events(self, *, before: datetime, limit: int) -> Forgotten:
        return Forgotten(0)  # The model tells nobody.

    async def forget_workers(self, *, before: datetime, limit: int) -> Forgotten:
        spent = [worker.id for worker in self.state.workers.values() if worker.last_seen_at < before]
        for worker_id in spent:
            del self.state.workers[worker_id]
        return Forgotten(len(spent))

    def _forget(self, execution_id: ExecutionId) -> None:
        del self.state.runs[execution_id]
        self.state.checkpoints.pop(execution_id, None)
        self.state.dead_letters.pop(execution_id, None)
        for place in [place for place in self.state.logs if place[0].execution_id == execution_id]:
            del self.state.logs[place]
