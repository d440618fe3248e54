"""Checkpoints, logs and dead letters over any SQL database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.lease import Claim
from gnomon.core.executions.lifecycle import DeadReason
from gnomon.core.executions.records import Checkpoint, DeadLetter, LogLevel, LogLine, Page
from gnomon.core.jobs.job import JobId
from gnomon.core.values.document import Document
from gnomon.core.values.limits import check_limit
from gnomon.errors import DeadLetterNotFound
from gnomon.store.databases.database import Database, Row, Rows
from gnomon.store.databases.rows import (
    FIRST_ID,
    INTEGER_MAX,
    LAST_ID,
    document_of,
    document_text,
    failure_of,
    is_possible,
)
from gnomon.store.executions.redrives import Redriving


class SqlCheckpoints:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, checkpoints: Sequence[Checkpoint]) -> Sequence[Claim]:
        # The last one wins inside a batch, as it would one by one.
        last = {one.claim: one for one in checkpoints if is_possible(one.claim)}
        rows = [
            (one.claim.execution_id, one.claim.number, one.state.text, one.progress, one.saved_at)
            for one in last.values()
        ]
        batch = Rows("saved", ("execution_id", "claim", "state", "progress", "saved_at"), rows)
        return _claims(await self._database.fetch("checkpoints_save", batch))

    async def load(self, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, Checkpoint]:
        rows = await self._database.read("checkpoints_load", _wanted(execution_ids))
        return {
            row["execution_id"]: Checkpoint(
                Claim(row["execution_id"], row["claim"]),
                Document(row["state"]),
                row["progress"],
                row["saved_at"],
            )
            for row in rows
        }


class SqlLogs:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(self, lines: Sequence[LogLine]) -> Sequence[Claim]:
        rows = [
            (
                line.claim.execution_id,
                line.claim.number,
                line.number,
                line.at,
                line.level,
                line.message,
                document_text(line.context),
            )
            for line in lines
            if is_possible(line.claim)
        ]
        columns = ("execution_id", "claim", "number", "at", "level", "message", "context")
        return _claims(await self._database.fetch("logs_append", Rows("line", columns, rows)))

    async def read(
        self,
        tenant_id: TenantId,
        execution_id: ExecutionId,
        *,
        limit: int,
        after: tuple[int, int] = (0, 0),
    ) -> Sequence[LogLine]:
        rows = await self._database.read(
            "logs_read",
            tenant_id=tenant_id,
            execution_id=execution_id,
            after_claim=min(after[0], INTEGER_MAX),
            after_number=min(after[1], INTEGER_MAX),
            limit=check_limit(limit),
        )
        return [
            LogLine(
                Claim(row["execution_id"], row["claim"]),
                row["number"],
                row["at"],
                LogLevel(row["level"]),
                row["message"],
                document_of(row["context"]),
            )
            for row in rows
        ]


class SqlDeadLetters:
    def __init__(self, database: Database, redriving: Redriving) -> None:
        self._database = database
        self.redrive = redriving.redrive

    async def get(self, tenant_id: TenantId, execution_id: ExecutionId) -> DeadLetter:
        rows = await self._database.read("dead_letter_get", tenant_id=tenant_id, execution_id=execution_id)
        if not rows:
            raise DeadLetterNotFound(execution_id)
        return _dead_letter_of(rows[0])

    async def page(
        self,
        tenant_id: TenantId,
        *,
        limit: int,
        job_id: JobId | None = None,
        after: UUID | None = None,
    ) -> Page[DeadLetter]:
        check_limit(limit)
        rows = await self._database.read(
            "dead_letters_page_of_job" if job_id else "dead_letters_page",
            tenant_id=tenant_id,
            job_id=job_id or FIRST_ID,
            after=after or LAST_ID,
            limit=limit + 1,
        )
        found = tuple(_dead_letter_of(row) for row in rows[:limit])
        return Page(found, found[-1].execution_id if len(rows) > limit else None)

    async def purge(self, tenant_id: TenantId, execution_ids: Sequence[ExecutionId]) -> Sequence[ExecutionId]:
        rows = await self._database.fetch("dead_letters_purge", _wanted(execution_ids), tenant_id=tenant_id)
        purged = {row["execution_id"] for row in rows}
        return [execution_id for execution_id in execution_ids if execution_id in purged]


def _dead_letter_of(row: Row) -> DeadLetter:
    return DeadLetter(
        execution_id=ExecutionId(row["execution_id"]),
        tenant_id=TenantId(row["tenant_id"]),
        job_id=JobId(row["job_id"]),
        reason=DeadReason(row["reason"]),
        failure=failure_of(row),
        attempts=row["attempts"],
        died_at=row["died_at"],
        redriven_as=row["redriven_as"],
        redriven_at=row["redriven_at"],
    )


def _claims(rows: Sequence[Row]) -> list[Claim]:
    return [Claim(row["execution_id"], row["claim"]) for row in rows]


def _wanted(ids: Sequence[UUID]) -> Rows:
    return Rows("wanted", ("id",), [(wanted,) for wanted in ids])
