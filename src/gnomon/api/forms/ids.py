"""Ids and cursors as they travel.

An id that cannot exist is not found, as one that does not exist is: both get the same answer. A cursor is
opaque, and fits the list, the tenant and the filters that it came from; elsewhere it is refused.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b
from hmac import compare_digest
from typing import TypeVar
from urllib.parse import quote, unquote
from uuid import UUID

from asyncpg.pgproto.pgproto import UUID as FastUUID  # A UUID like any other, made in C. # noqa: N811

from gnomon.core.access.keys import KeyId
from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import ExecutionId, WorkerId
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.backfills import BackfillId
from gnomon.core.runs.run import RunId
from gnomon.core.values.document import check_name
from gnomon.core.values.instants import instant_text, parse_instant
from gnomon.errors import (
    BackfillNotFound,
    CalendarNotFound,
    DagNotFound,
    DeadLetterNotFound,
    ExecutionNotFound,
    InvalidInput,
    JobNotFound,
    KeyNotFound,
    NotFound,
    RunNotFound,
    WorkerNotFound,
)

_NAMED = (
    re.compile(r"(/v1/dag-runs/[^/]+/tasks/)(.+)(/[^/]+)", re.DOTALL),
    re.compile(r"(/v1/calendars/)(.+)()", re.DOTALL),
)
_MARK_BYTES = 8
_ID_BYTES = 16
_ID_LENGTH = 36
_SHOWN_MAX = 64
_NUMBER = re.compile(r"[0-9]{1,9}")

Id = TypeVar("Id")


def job_id(text: str) -> JobId:
    return _id(text, JobId, JobNotFound)


def execution_id(text: str) -> ExecutionId:
    return _id(text, ExecutionId, ExecutionNotFound)


def dag_id(text: str) -> JobId:
    return _id(text, JobId, DagNotFound)


def revision(text: str) -> int:
    """The number of a revision of a workflow, as people write it."""
    if not _NUMBER.fullmatch(text):
        raise DagNotFound(f"at revision {text[:_SHOWN_MAX]}")
    return int(text)


def run_id(text: str) -> RunId:
    return _id(text, RunId, RunNotFound)


def routable(path: str) -> str:
    """A path is decoded before it is routed, so a slash in a name would be one of the path.

    What is between `tasks` and the last word is the name of a task; what is after `calendars` is that of a
    calendar. It is encoded again, and `task_name` or `calendar_name` decodes it.
    """
    for pattern in _NAMED:
        if found := pattern.fullmatch(path):
            return f"{found[1]}{quote(found[2], safe='', errors='replace')}{found[3]}"
    return path


def task_name(text: str) -> str:
    return unquote(text)


def calendar_name(text: str) -> str:
    """Raises CalendarNotFound for a text that cannot be a name."""
    try:
        return new_calendar_name(text)
    except InvalidInput:
        raise CalendarNotFound(unquote(text)[:_SHOWN_MAX]) from None


def new_calendar_name(text: str) -> str:
    """Raises InvalidInput for a text that cannot be a name."""
    name = unquote(text)
    check_name(name, field="name")
    return name


def backfill_id(text: str) -> BackfillId:
    return _id(text, BackfillId, BackfillNotFound)


def dead_id(text: str) -> ExecutionId:
    return _id(text, ExecutionId, DeadLetterNotFound)


def key_id(text: str) -> KeyId:
    return _id(text, KeyId, KeyNotFound)


def worker_id(text: str) -> WorkerId:
    """Workers choose their names, within what a store can keep."""
    try:
        check_name(text, field="worker_id")
    except InvalidInput:
        raise WorkerNotFound(text[:_SHOWN_MAX]) from None
    return WorkerId(text)


def _id(text: str, kind: Callable[[UUID], Id], missing: type[NotFound]) -> Id:
    if len(text) == _ID_LENGTH:
        try:
            return kind(FastUUID(text))
        except ValueError:
            pass
    raise missing(text[:_SHOWN_MAX])


class Cursors:
    """The cursors of one list, as one caller asked for it.

    The mark tells a caller that a cursor comes from another list. It keeps no secret, so a caller can make a
    cursor of any bytes: each reader takes only what its kind of position can be, and refuses the rest.
    """

    def __init__(self, tenant_id: TenantId, *asked: object) -> None:
        self._key = blake2b(repr((tenant_id.hex, asked)).encode(), digest_size=32).digest()

    def write_id(self, id: UUID | None) -> str | None:
        return None if id is None else self._write(id.bytes)

    def read_id(self, text: str | None) -> UUID | None:
        """Raises InvalidInput, as the other readers do."""
        position = self._read(text)
        if position is None:
            return None
        if len(position) != _ID_BYTES:
            raise self._foreign()
        return UUID(bytes=position)

    def write_name(self, name: str | None) -> str | None:
        return None if name is None else self._write(name.encode())

    def read_name(self, text: str | None) -> str | None:
        position = self._read(text)
        if position is None:
            return None
        try:
            name = position.decode()
            check_name(name, field="cursor")
        except (UnicodeDecodeError, InvalidInput):
            raise self._foreign() from None
        return name

    def write_number(self, number: int | None) -> str | None:
        return self.write_name(None if number is None else str(number))

    def read_number(self, text: str | None) -> int | None:
        name = self.read_name(text)
        if name is None:
            return None
        if not _NUMBER.fullmatch(name):
            raise self._foreign()
        return int(name)

    def write_instant(self, instant: datetime | None) -> str | None:
        return self.write_name(None if instant is None else instant_text(instant))

    def read_instant(self, text: str | None) -> datetime | None:
        name = self.read_name(text)
        if name is None:
            return None
        try:
            return parse_instant(name, field="cursor")
        except InvalidInput:
            raise self._foreign() from None

    def _write(self, position: bytes) -> str:
        return urlsafe_b64encode(self._mark(position) + position).decode().rstrip("=")

    def _read(self, text: str | None) -> bytes | None:
        if text is None:
            return None
        try:
            kept = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (Error, ValueError):
            kept = b""
        position = kept[_MARK_BYTES:]
        if not compare_digest(kept[:_MARK_BYTES], self._mark(position)):
            raise self._foreign()
        return position

    def _mark(self, position: bytes) -> bytes:
        return blake2b(position, digest_size=_MARK_BYTES, key=self._key).digest()

    def _foreign(self) -> InvalidInput:
        return InvalidInput(
            "cursor", "does not come from this list with these filters; send `next_cursor` as you got it."
        )
