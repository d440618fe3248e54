"""The columns of what was claimed. No other module knows their order.

`claim`, `claim_suspect` and `tasks_end` answer with `ClaimedRow`; `tasks_end` adds two columns. `claimed`,
`expired` and `leases_held` add who holds each, and until when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import islice, repeat
from typing import Any, NamedTuple
from uuid import UUID

from gnomon.core.executions.execution import WorkerId
from gnomon.core.executions.lease import Claim, Leased
from gnomon.core.jobs.job import JobId, Revision
from gnomon.core.values.document import Document
from gnomon.store.databases.database import Row


class ClaimedRow(NamedTuple):
    execution_id: UUID
    job_id: JobId
    revision: int
    priority: int
    due: datetime
    nominal_time: datetime | None
    claim: int
    attempts: int
    crashes: int
    input: str | None


class Hold(NamedTuple):
    """Who holds a lease, and until when: the same for all that one claim got."""

    worker: WorkerId
    started_at: datetime
    lease_until: datetime
    cancel_requested: bool = False


class _Columns(NamedTuple):
    """The fields of `ClaimedRow`, each for all rows. This is the hot path: a row costs 0.1 µs by column, and
    0.8 µs by the names of its columns."""

    execution_id: Sequence[UUID]
    job_id: Sequence[JobId]
    revision: Sequence[int]
    priority: Sequence[int]
    due: Sequence[datetime]
    nominal_time: Sequence[datetime | None]
    claim: Sequence[int]
    attempts: Sequence[int]
    crashes: Sequence[int]
    input: Sequence[str | None]


assert _Columns._fields == ClaimedRow._fields

# What Leased(...), Claim(...) and Document(...) do, without the call in between that doubles their price.
_leased: Callable[[Iterable[Any]], Leased] = partial(tuple.__new__, Leased)
_claim: Callable[[Iterable[Any]], Claim] = partial(tuple.__new__, Claim)
_document: Callable[[Iterable[Any]], Document] = partial(tuple.__new__, Document)


def ids_of(rows: Iterable[Row | ClaimedRow]) -> set[UUID]:
    return {row[0] for row in rows}


class Taken:
    """What was claimed, at least one row. Without a `hold`, each row says by whom it is held."""

    def __init__(self, rows: Sequence[Row | ClaimedRow], hold: Hold | None = None) -> None:
        columns: Iterator[Any] = zip(*rows, strict=True)
        self._columns = _Columns(*islice(columns, len(_Columns._fields)))
        self._holds = list(islice(columns, len(Hold._fields))) if hold is None else list(map(repeat, hold))
        self.job_ids, self.revisions = self._columns.job_id, self._columns.revision

    def leased(self, revisions: Sequence[Revision]) -> list[Leased]:
        its = self._columns
        workers, started_at, lease_until, cancel_requested = self._holds
        fields = zip(
            map(_claim, zip(its.execution_id, its.claim, strict=True)),
            [revision.tenant_id for revision in revisions],
            [revision.job_id for revision in revisions],
            revisions,
            workers,
            its.priority,
            its.nominal_time,
            its.due,
            [None if text is None else _document((text,)) for text in its.input],
            its.attempts,
            its.crashes,
            started_at,
            lease_until,
            cancel_requested,
            strict=False,  # What all rows share comes without end.
        )
        return list(map(_leased, fields))
