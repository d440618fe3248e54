"""What else is kept about executions: checkpoints, log lines, dead letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.gates import slots
from gnomon.core.executions.lease import Claim
from gnomon.core.executions.records import (
    AtRevision,
    Checkpoint,
    DeadLetter,
    LogLine,
    Page,
    Redrive,
    Redriven,
)
from gnomon.core.jobs.job import JobId
from gnomon.errors import DeadLetterNotFound
from tests.contract.model import gates
from tests.contract.model.jobs import triggerable
from tests.contract.model.state import State, page_of


@dataclass(frozen=True, slots=True)
class ModelCheckpoints:
    state: State

    async def save(self, checkpoints: Sequence[Checkpoint]) -> Sequence[Claim]:
        kept = [one for one in checkpoints if self.state.current(one.claim) is not None]
        for checkpoint in kept:
            self.state.checkpoints[checkpoint.claim.execution_id] = checkpoint
        return list(dict.fromkeys(one.claim for one in kept))

    async def load(self, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, Checkpoint]:
        saved = self.state.checkpoints
        return {one: saved[one] for one in execution_ids if one in saved}


@dataclass(frozen=True, slots=True)
class ModelLogs:
    state: State

    async def append(self, lines: Sequence[LogLine]) -> Sequence[Claim]:
        kept = [line for line in lines if self.state.current(line.claim) is not None]
        for line in kept:
            self.state.logs.setdefault((line.claim, line.number), line)
        return list(dict.fromkeys(line.claim for line in kept))

    async def read(
        self,
        tenant_id: TenantId,
        execution_id: ExecutionId,
        *,
        limit: int,
        after: tuple[int, int] = (0, 0),
    ) -> Sequence[LogLine]:
        run = self.state.runs.get(execution_id)
        if run is None or run.tenant_id != tenant_id:
            return []
        lines = [line for line in self.state.logs.values() if line.claim.execution_id == execution_id]
        return sorted((line for line in lines if _position(line) > after), key=_position)[:limit]


@dataclass(frozen=True, slots=True)
class ModelDeadLetters:
    state: State

    async def get(self, tenant_id: TenantId, execution_id: ExecutionId) -> DeadLetter:
        letter = self.state.dead_letters.get(execution_id)
        if letter is None or letter.tenant_id != tenant_id:
            raise DeadLetterNotFound(execution_id)
        return letter

    async def page(
        self,
        tenant_id: TenantId,
        *,
        limit: int,
        job_id: JobId | None = None,
        after: UUID | None = None,
    ) -> Page[DeadLetter]:
        fitting = [
            (letter.execution_id, letter)
            for letter in self.state.dead_letters.values()
            if letter.tenant_id == tenant_id and job_id in (None, letter.job_id)
        ]
        return page_of(fitting, limit=limit, after=after)

    async def redrive(
        self,
        tenant_id: TenantId,
        redrives: Sequence[Redrive],
        *,
        now: datetime,
        revision: AtRevision = AtRevision.NEWEST,
    ) -> Sequence[Redriven]:
        for redrive in redrives:
            letter = await self.get(tenant_id, redrive.execution_id)
            triggerable(self.state.jobs, tenant_id, letter.job_id)
        answer = [self._redrive(redrive, revision, now) for redrive in redrives]
        jobs = {self.state.dead_letters[redrive.execution_id].job_id for redrive in redrives}
        gates.admit(self.state, {one for one in jobs if slots(self.state.jobs[one].definition)}, now)
        return answer

    async def purge(self, tenant_id: TenantId, execution_ids: Sequence[ExecutionId]) -> Sequence[ExecutionId]:
        letters = self.state.dead_letters
        there = [
            one
            for one in dict.fromkeys(execution_ids)
            if one in letters and letters[one].tenant_id == tenant_id
        ]
        for one in there:
            del letters[one]
        return there

    def _redrive(self, redrive: Redrive, revision: AtRevision, now: datetime) -> Redriven:
        letter = self.state.dead_letters[redrive.execution_id]
        if letter.redriven_as is not None:
            became = self.state.runs.get(letter.redriven_as)
            return Redriven(letter.redriven_as, False, None if became is None else became.revision.number)
        dead = self.state.runs[redrive.execution_id]
        is_original = revision is AtRevision.ORIGINAL
        newest = self.state.revisions[dead.job_id, self.state.jobs[dead.job_id].revision]
        chosen = dead.revision if is_original else newest
        gates.enter_again(self.state, dead, redrive.new_id, chosen, now)
        self.state.dead_letters[redrive.execution_id] = replace(
            letter, redriven_as=redrive.new_id, redriven_at=now
        )
        return Redriven(redrive.new_id, True, chosen.number)


def _position(line: LogLine) -> tuple[int, int]:
    return line.claim.number, line.number
