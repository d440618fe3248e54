"""What the rest of Gnomon needs to keep an installation running: workers, shards, upkeep."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from gnomon.core.executions.execution import (
    WorkerId,
)
from gnomon.core.executions.retention import RetentionPolicy
from gnomon.core.operations.shards import Division, Moves
from gnomon.core.operations.workers import Registered, Registration, Worker


class Forgotten(NamedTuple):
    """How much went, whether there is more now, and where to go on if the verb takes a position."""

    gone: int
    more: bool = False
    after: UUID | None = None


class WorkerStore(Protocol):
    async def register(self, registration: Registration, *, now: datetime) -> None:
        """Create or replace: a worker that starts again is the same worker with a new boot.

        A key takes a name from another key, or from a later boot, only if that worker has left or is silent;
        from another key, only if it holds nothing. Raises WorkerNameTaken.
        """

    async def registered(self, worker_id: WorkerId) -> Registered:
        """As it registered, without a count of what it runs. Raises WorkerNotFound."""

    async def beat(
        self, worker_id: WorkerId, boot: UUID, *, now: datetime, slots: int | None = None
    ) -> Worker:
        """Say that the worker lives, and perhaps how many slots it has now; the answer says whether to drain.

        Raises WorkerNotFound if it is unknown or a newer boot took its name.
        """

    async def drain(self, worker_id: WorkerId) -> Worker:
        """Ask the worker to take nothing new. Raises WorkerNotFound."""

    async def undrain(self, worker_id: WorkerId) -> Worker:
        """Let a drained worker take work again. Changes nothing of one that left. Raises WorkerNotFound."""

    async def leave(self, worker_id: WorkerId, boot: UUID, *, now: datetime) -> None:
        """Say good-bye. Does nothing if a newer boot took the name."""

    async def get(self, worker_id: WorkerId) -> Worker: ...

    async def list(self, *, limit: int, after: WorkerId | None = None) -> Sequence[Worker]:
        """By id."""

    async def live_kinds(self, *, now: datetime) -> frozenset[str]:
        """The kinds of all workers that have neither left nor fallen silent."""


class ShardStore(Protocol):
    """Which scheduler looks after which jobs. It divides work; safety does not rest on it."""

    async def hold(self, owner: str, moves: Moves, *, now: datetime, until: datetime) -> Division:
        """Be there until `until`, keep what `owner` has, make the moves, and see what everybody has.

        One statement. Renews also what has run out and nobody took. A shard is taken only if it is free or
        has run out at `now`. `owner` is a process: two of one name would share what they hold.
        """

    async def release(self, owner: str, *, now: datetime) -> None:
        """Give everything back, and be gone."""


class UpkeepStore(Protocol):
    """Making room. Each call is short: it looks at no more than `limit` things, and says if there is more.

    Any number of processes may do it at the same time; to stop in the middle does no harm.
    """

    async def make_months(self, *, now: datetime) -> Sequence[str]:
        """Make the partitions of this month and the next two, where the database has partitions.

        Returns what was made: mostly nothing, for the price of a look. Raises StoreUnavailable if tables are
        in use by a long statement (try again later), StoreRefused if the role may not make tables.
        """

    async def drop_month(self, policy: RetentionPolicy, *, now: datetime, limit: int) -> Forgotten:
        """Drop the oldest month whole, if all in it has ended and may go. Counts months: one, or none.

        Before that, its dead letters and checkpoints go, `limit` at a time. Raises like `make_months`.
        """

    async def forget_ended(
        self, policy: RetentionPolicy, *, now: datetime, limit: int, after: UUID | None = None
    ) -> Forgotten:
        """Walk over `limit` old ended executions from `after` on, and forget those that may go.

        With each go its attempts, log lines, checkpoint and dead letter. Log lines go first, at most 10,000 a
        call. Counts executions.
        """

    async def forget_occurrences(
        self, *, before: datetime, limit: int, after: UUID | None = None
    ) -> Forgotten:
        """Forget ledger rows about times before `before` that were recorded before `before`."""

    async def forget_checkpoints(
        self, *, ended_before: datetime, limit: int, after: UUID | None = None
    ) -> Forgotten:
        """Walk over `limit` checkpoints, and forget those of executions that ended before then."""

    async def forget_requests(self, *, before: datetime, limit: int) -> Forgotten:
        """Forget which claims were asked for before then. After that, the same request claims anew."""

    async def forget_idempotency_keys(self, *, before: datetime, limit: int) -> Forgotten:
        """Forget keys that were first used before then. After that, the same request is a new one."""

    async def forget_events(self, *, before: datetime, limit: int) -> Forgotten:
        """Forget what was told before then. Who wants to go on from there has to start anew."""

    async def forget_workers(self, *, before: datetime, limit: int) -> Forgotten:
        """Forget workers that left or fell silent before then. One that still lives registers again."""
