"""Ids and cursors as they travel.

An id that cannot exist is not found, as one that does not exist is: both get the same answer. A cursor is
opaque, and fits the list, the tenant and the filters that it came from; elsewhere it is refused.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable
from hashlib import blake2b
from hmac import compare_digest
from typing import TypeVar
from urllib.parse import quote, unquote
from uuid import UUID

from asyncpg.pgproto.pgproto import UUID as FastUUID  # A UUID like any other, made in C. # noqa: N811

from gnomon.core.backfill import BackfillId
from gnomon.core.dag import RunId
from gnomon.core.document import check_name
from gnomon.core.execution import ExecutionId, WorkerId
from gnomon.core.job import JobId, TenantId
from gnomon.core.keys import KeyId
from gnomon.errors import (
    BackfillNotFound,
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

_TASK = re.compile(r"(/v1/dag-runs/[^/]+/tasks/)(.+)(/[^/]+)", re.DOTALL)
_MARK_BYTES = 8
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
    """A path is decoded before it is routed, so a slash in the name of a task would be one of the path.

    What is between `tasks` and the last word is the name: it is encoded again, and `task_name` decodes it.
    """
    found = _TASK.fullmatch(path)
    return path if found is None else f"{found[1]}{quote(found[2], safe='', errors='replace')}{found[3]}"


def task_name(text: str) -> str:
    return unquote(text)


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
    """The cursors of one list, as one caller asked for it."""

    def __init__(self, tenant_id: TenantId, *asked: object) -> None:
        self._key = blake2b(repr((tenant_id.hex, asked)).encode(), digest_size=32).digest()

    def write(self, position: bytes | None) -> str | None:
        if position is None:
            return None
        return urlsafe_b64encode(self._mark(position) + position).decode().rstrip("=")

    def read(self, text: str | None) -> bytes | None:
        """Raises InvalidInput."""
        if text is None:
            return None
        try:
            kept = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (Error, ValueError):
            kept = b""
        position = kept[_MARK_BYTES:]
        if not compare_digest(kept[:_MARK_BYTES], self._mark(position)):
            raise InvalidInput("cursor", "does not come from this list with these filters.")
        return position

    def write_id(self, id: UUID | None) -> str | None:
        return self.write(None if id is None else id.bytes)

    def read_id(self, text: str | None) -> UUID | None:
        position = self.read(text)
        return None if position is None else UUID(bytes=position)

    def _mark(self, position: bytes) -> bytes:
        return blake2b(position, digest_size=_MARK_BYTES, key=self._key).digest()
