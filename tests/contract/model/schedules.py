"""The schedulers' side of jobs: what is due, and the ledger of what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import Trigger
from gnomon.core.jobs.job import Job, JobId, shard_of
from gnomon.core.schedules.occurrence import Firing, Occurrence
from gnomon.core.time import schedule_document
from gnomon.core.time.calendars import Calendar
from gnomon.errors import InvalidInput
from gnomon.store.protocols.jobs import Due, Unreadable
from tests.contract.model import gates
from tests.contract.model.state import Run, State


@dataclass(frozen=True, slots=True)
class ModelSchedules:
    state: State

    async def due(
        self,
        *,
        now: datetime,
        limit: int,
        shards: Collection[int] | None = None,
        passed_over: Collection[JobId] = (),
    ) -> Due:
        due = [(time, job.id, job) for time, job in self._waiting(shards, passed_over) if time <= now]
        readable: list[Job] = []
        unreadable: list[Unreadable] = []
        for time, job_id, job in sorted(due, key=lambda entry: entry[:2])[:limit]:
            try:  # As if it had been written down and read again by this release.
                schedule_document.from_document(schedule_document.to_document(job.definition.schedule))
                readable.append(job)
            except InvalidInput as error:
                unreadable.append(Unreadable(job.tenant_id, job_id, job.name, time, error))
        return Due(readable, unreadable)

    async def next_due(
        self, *, shards: Collection[int] | None = None, passed_over: Collection[JobId] = ()
    ) -> datetime | None:
        return min((time for time, _ in self._waiting(shards, passed_over)), default=None)

    async def fire(self, firings: Sequence[Firing], *, now: datetime) -> Sequence[JobId]:
        took_effect = []
        for firing in firings:
            job = self.state.jobs.get(firing.job_id)
            if job is not None and _is_current(firing, job):
                self._fire(firing, job, now)
                took_effect.append(job.id)
                if firing.waits_for:
                    gates.admit(self.state, [job.id], now)
        return took_effect

    async def live(self, job_ids: Collection[JobId]) -> Mapping[JobId, int]:
        live = Counter(run.job_id for run in self.state.runs.values() if run.end is None and run.watched)
        return {job_id: live[job_id] for job_id in job_ids}

    async def occurrences(
        self, tenant_id: TenantId, job_id: JobId, *, limit: int, before: datetime | None = None
    ) -> Sequence[Occurrence]:
        job = self.state.jobs.get(job_id)
        if job is None or job.tenant_id != tenant_id:
            return []
        rows = [row for (owner, _), row in self.state.ledger.items() if owner == job_id]
        wanted = [row for row in rows if before is None or row.nominal_time < before]
        return sorted(wanted, key=lambda row: row.nominal_time, reverse=True)[:limit]

    async def calendars(self, names: Collection[tuple[TenantId, str]]) -> Sequence[Calendar]:
        return [self.state.calendars[name].calendar for name in names if name in self.state.calendars]

    def _waiting(
        self, shards: Collection[int] | None, passed_over: Collection[JobId]
    ) -> list[tuple[datetime, Job]]:
        return [
            (job.next_run_time, job)
            for job in self.state.jobs.values()
            if job.next_run_time is not None and (shards is None or shard_of(job.id) in shards)
            if job.id not in passed_over
        ]

    def _fire(self, firing: Firing, job: Job, now: datetime) -> None:
        if firing.replaces:
            for run in self.state.runs.values():
                if run.job_id == job.id and run.watched:
                    run.stop(now)
        previous = firing.previous_run_time
        for occurrence in firing.occurrences:
            newer_than, previous = previous, occurrence.nominal_time if occurrence.execution_id else previous
            if (job.id, occurrence.nominal_time) in self.state.ledger:
                continue  # It has its outcome. Clocks that disagree make no second one, and no dead end.
            self.state.ledger[job.id, occurrence.nominal_time] = occurrence
            if occurrence.execution_id is not None:
                assert occurrence.due is not None
                run = Run(
                    id=occurrence.execution_id,
                    tenant_id=job.tenant_id,
                    revision=self.state.revisions[job.id, job.revision],
                    trigger=Trigger.SCHEDULE,
                    nominal_time=occurrence.nominal_time,
                    due=occurrence.due,
                    priority=job.definition.priority,
                    input=None,
                    unique_key=None,
                    created_at=now,
                    waits_for=firing.waits_for,
                    newer_than=newer_than,
                )
                gates.enter(self.state, run)
        self.state.jobs[job.id] = replace(
            job,
            status=firing.status,
            next_run_time=firing.next_run_time,
            last_run_time=firing.last_run_time,
            fires=firing.fires,
            anchor=firing.anchor,
        )


def _is_current(firing: Firing, job: Job) -> bool:
    return (
        job.tenant_id == firing.tenant_id
        and job.version == firing.expected_version
        and job.next_run_time == firing.expected_next_run_time
    )
