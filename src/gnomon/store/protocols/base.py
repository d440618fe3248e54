"""What the rest of Gnomon needs from durable state. Verbs by noun, never tables.

Rules that hold for every verb:
- Time, ids and chance come in as values. `Store.clock` is the one verb that reads a clock, and does no more.
- Verbs that change something are atomic and durable when they return; hot ones take batches.
- Everything is scoped by tenant, except what workers and schedulers do for all of them.
- A verb that raised StoreUnavailable may or may not have happened; asking again is safe.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol
from uuid import UUID

from gnomon.core.access.keys import ApiKey, KeyId
from gnomon.core.executions.execution import (
    Attempt,
    AttemptOutcome,
    Enqueued,
    Execution,
    ExecutionId,
    ExecutionStatus,
    NewExecution,
    RecentRun,
    WorkerId,
)
from gnomon.core.executions.lease import Claim, ClaimRequest, Leased, Offer, Renewed
from gnomon.core.executions.lifecycle import Change, JobChange
from gnomon.core.executions.records import (
    AtRevision,
    Checkpoint,
    DeadLetter,
    ExecutionFilter,
    JobFilter,
    LogLine,
    Page,
    Redrive,
    Redriven,
    Tenant,
)
from gnomon.core.executions.retention import RetentionPolicy
from gnomon.core.explain.executions import Place
from gnomon.core.jobs.job import Job, JobId, NewJob, Revision, TenantId
from gnomon.core.jobs.shown import ShownJob
from gnomon.core.operations.shards import Division, Moves
from gnomon.core.operations.workers import Registered, Registration, Worker
from gnomon.core.schedules.occurrence import Firing, Occurrence
from gnomon.core.time.calendars import Calendar, KeptCalendar, ListedCalendar
from gnomon.core.values.idempotency import Idempotency
from gnomon.errors import InvalidInput


class Applied(StrEnum):
    """What became of a change that a worker or the reaper asked for."""

    APPLIED = "applied"
    REPLAYED = "replayed"  # This very change was applied before; the first reply was lost.
    LOST = "lost"  # The claim is no longer current. Nothing was changed.


class Decision(NamedTuple):
    """A change and the claim that entitles to it."""

    claim: Claim
    change: Change
    # A task of a workflow: its run is locked first. Who does not say so is asked to wait a little longer.
    in_run: bool = False


class Handover(NamedTuple):
    """What became of decisions, and what was claimed with them: None if that was not tried, or in vain.

    `more`: somebody may find work, since not all that follows the decisions was claimed.
    """

    applied: Sequence[Applied]
    leased: Sequence[Leased] | None
    more: bool


class Unreadable(NamedTuple):
    """A due job that this release cannot read: its time zone vanished from tzdata, or the like."""

    tenant_id: TenantId
    job_id: JobId
    name: str
    next_run_time: datetime
    reason: InvalidInput


class Due(NamedTuple):
    jobs: Sequence[Job]
    unreadable: Sequence[Unreadable]


class Forgotten(NamedTuple):
    """How much went, whether there is more now, and where to go on if the verb takes a position."""

    gone: int
    more: bool = False
    after: UUID | None = None


class TenantStore(Protocol):
    async def save(self, tenant: Tenant, *, now: datetime) -> None:
        """Create or replace."""

    async def get(self, tenant_id: TenantId) -> Tenant: ...


class JobStore(Protocol):
    async def create(
        self, jobs: Sequence[NewJob], *, now: datetime, idempotency: Idempotency | None = None
    ) -> Sequence[Job]:
        """Create all or none. Raises JobAlreadyExists, JobNotFound (a dependency), InvalidDependency.

        With an idempotency key that was used for the same request, nothing is created and the jobs of the
        first call are returned as they are now; for another request, IdempotencyConflict is raised.
        """

    async def change(
        self, changes: Sequence[JobChange], *, now: datetime, idempotency: Idempotency | None = None
    ) -> Sequence[Job]:
        """Update, pause, resume, cancel, delete: all or none, each only at its expected version.

        A new definition makes a new revision. A change that ends executions (cancel, delete) ends the
        waiting ones in the same transaction and asks the running ones to stop.
        Raises JobNotFound, VersionConflict, JobAlreadyExists, InvalidDependency, IdempotencyConflict.
        """

    async def get(self, tenant_id: TenantId, job_id: JobId) -> Job:
        """Raises JobNotFound. A deleted job can still be read."""

    async def many(self, tenant_id: TenantId, job_ids: Collection[JobId]) -> Sequence[Job]:
        """Those of at most 1,000 jobs that exist, each once, in the order asked for; deleted ones too."""

    async def shown(self, tenant_id: TenantId, job_ids: Collection[JobId]) -> Sequence[ShownJob]:
        """The same, for those who only show them."""

    async def named(self, tenant_id: TenantId, name: str) -> Job:
        """The live job of that name. Raises JobNotFound."""

    async def page(
        self, tenant_id: TenantId, wanted: JobFilter, *, limit: int, after: UUID | None = None
    ) -> Page[Job]: ...

    async def revision(self, tenant_id: TenantId, job_id: JobId, number: int) -> Revision: ...


class ScheduleStore(Protocol):
    async def due(
        self,
        *,
        now: datetime,
        limit: int,
        shards: Collection[int] | None = None,
        passed_over: Collection[JobId] = (),
    ) -> Due:
        """Jobs with a fire time that has come, oldest first. A hint: `fire` decides who was first.

        An unreadable one counts towards the limit and stays due. Report it, and pass it over for a while.
        """

    async def next_due(
        self, *, shards: Collection[int] | None = None, passed_over: Collection[JobId] = ()
    ) -> datetime | None:
        """When the next fire time comes: how long a scheduler may sleep."""

    async def fire(self, firings: Sequence[Firing], *, now: datetime) -> Sequence[JobId]:
        """Write ledger rows, executions, queue rows and the next fire time of each job, whole or not at all.

        Returns the jobs whose firing took effect. The others were changed or fired by somebody else.
        What may pass its gate at once has done so; a firing that replaces has ended the runs before.
        """

    async def occurrences(
        self, tenant_id: TenantId, job_id: JobId, *, limit: int, before: datetime | None = None
    ) -> Sequence[Occurrence]:
        """The ledger, newest first, strictly before `before`."""

    async def live(self, job_ids: Collection[JobId]) -> Mapping[JobId, int]:
        """How many executions of each job have not ended, if it has an overlap policy: else nobody counts."""

    async def calendars(self, names: Collection[tuple[TenantId, str]]) -> Sequence[Calendar]:
        """The calendars of these names that exist."""


class CalendarStore(Protocol):
    async def save(
        self,
        calendar: Calendar,
        *,
        now: datetime,
        version: int | None = None,
        idempotency: Idempotency | None = None,
    ) -> KeptCalendar:
        """Create or replace. The same dates again make no new version.

        With a version, only what is there at that version is replaced. Raises CalendarNotFound,
        VersionConflict, IdempotencyConflict, TenantNotFound.
        """

    async def get(self, tenant_id: TenantId, name: str) -> KeptCalendar:
        """Raises CalendarNotFound."""

    async def list(
        self, tenant_id: TenantId, *, limit: int, after: str | None = None
    ) -> Sequence[ListedCalendar]:
        """By name."""

    async def delete(self, tenant_id: TenantId, name: str, *, version: int | None = None) -> KeptCalendar:
        """What it was. Raises CalendarNotFound, VersionConflict.

        Raises CalendarInUse while an active or paused job or workflow names it. A job that is made or changed
        at the same moment either keeps the calendar, or is refused with CalendarNotFound.
        """


class ExecutionStore(Protocol):
    async def enqueue(
        self,
        tenant_id: TenantId,
        asked: Sequence[NewExecution],
        *,
        now: datetime,
        idempotency: Idempotency | None = None,
    ) -> Sequence[Enqueued]:
        """Keep all or none, in order. Raises JobNotFound; IllegalTransition if a job was cancelled.

        A unique key that a live execution of the same job holds makes nothing new: the answer names that one.
        If the job has slots, only as many are let in as there are free ones.
        """

    async def repeat(self, tenant_id: TenantId, asked: Redrive, *, now: datetime) -> Enqueued:
        """Run an ended execution again, as a new one with its input and its revision.

        Raises ExecutionNotFound, JobNotFound, IllegalTransition. The same ask repeated makes one execution.
        """

    async def claim(self, request: ClaimRequest, *, now: datetime, lease_until: datetime) -> Sequence[Leased]:
        """Hand out due executions that fit: by priority, then due time, then id. Nothing is handed out twice.

        The same request id asked again by the same worker returns what it got the first time and still
        holds. A suspect is handed out alone: see ClaimRequest.
        """

    async def renew(self, claims: Sequence[Claim], *, lease_until: datetime) -> Sequence[Renewed]:
        """Extend leases. Claims missing from the answer are lost: stop working on them."""

    async def apply(self, decisions: Sequence[Decision], *, now: datetime) -> Sequence[Applied]:
        """The one way in which a running execution changes. Fenced by the claim; answers in order.

        Attempt record, retry, dead letter and the end of the execution are written with it. Then what waited
        for that is let in, as by `admit`; if the store fails between the two, the next sweep does it.
        """

    async def apply_and_claim(
        self, decisions: Sequence[Decision], request: ClaimRequest, *, now: datetime, lease_until: datetime
    ) -> Handover:
        """`apply`; if that releases tasks of workflows, `claim` in the same transaction.

        So a chain of tasks costs one round of writing each. The request must be new. If no answer comes, it
        may have claimed: then ask `claim`, as a repeat.
        """

    async def admit(self, job_ids: Collection[JobId], *, now: datetime, limit: int) -> int:
        """Let in what waits for a slot or for other jobs, of these jobs and of those that depend on them.

        Due executions, by priority, due time and id; at most `limit` of each job, and never more than it has
        slots. Returns how many no gate holds any more. Asking once too often changes nothing.
        """

    async def gated(self, *, now: datetime, limit: int, after: UUID | None = None) -> Page[JobId]:
        """Jobs for which `admit` would let something in, by id: what a sweep asks for.

        Looks at `limit` jobs that have something at a gate, after the job `after`; `next` tells where to go
        on, also if none of these can let anything in.
        """

    async def held(self, claims: Sequence[Claim]) -> Sequence[Leased]:
        """Those of these claims that are current, with all that deciding about them needs."""

    async def settled(self, claims: Sequence[Claim]) -> Mapping[Claim, AttemptOutcome]:
        """Those of these claims that ended or were given back, and how: tells a replay from a theft."""

    async def place(self, tenant_id: TenantId, execution_id: ExecutionId) -> Place | None:
        """Where it waits and what for. None if it does not wait."""

    async def ahead(self, place: Place, offer: Offer, *, now: datetime, limit: int) -> int:
        """How many a worker with this offer would claim before it; counted up to `limit`."""

    async def hold_back(self, worker: WorkerId, offer: Offer, *, now: datetime) -> bool:
        """Whether a worker that holds something shall claim nothing until it is empty: see core/executions/suspects.py.

        True if a suspect that fits has waited for PATIENCE, and no other worker holds back for its lane. Ask
        again while it waits: after RESERVED_MAX, the answer is False for a while.
        """

    async def next_due(self, offer: Offer, *, after: datetime) -> datetime | None:
        """The first due time after an instant, of what waits for nothing but a worker with this offer."""

    async def next_gated(self, *, after: datetime) -> datetime | None:
        """The first due time after an instant, of what waits for a slot: before it, `admit` lets none in."""

    async def expired(self, *, now: datetime, limit: int) -> Sequence[Leased]:
        """Running executions whose lease ended before `now`, oldest lease first."""

    async def cancel(
        self, tenant_id: TenantId, execution_ids: Sequence[ExecutionId], *, now: datetime
    ) -> Mapping[ExecutionId, ExecutionStatus]:
        """End what waits; ask what runs to stop; leave what has ended. Returns the status afterwards.

        Ids that do not exist are missing from the answer.
        """

    async def get(self, tenant_id: TenantId, execution_id: ExecutionId, *, now: datetime) -> Execution:
        """Raises ExecutionNotFound. `now` tells PENDING from QUEUED."""

    async def page(
        self,
        tenant_id: TenantId,
        wanted: ExecutionFilter,
        *,
        now: datetime,
        limit: int,
        after: UUID | None = None,
    ) -> Page[Execution]: ...

    async def recent(
        self, tenant_id: TenantId, job_ids: Collection[JobId], *, limit: int
    ) -> Mapping[JobId, Sequence[RecentRun]]:
        """The newest executions of each job, newest first, in few words."""

    async def progress(
        self, tenant_id: TenantId, execution_ids: Collection[ExecutionId]
    ) -> Mapping[ExecutionId, float]:
        """How far these are, 0 to 1, by the checkpoint of each. Those that did not say so are missing."""

    async def attempts(self, tenant_id: TenantId, execution_id: ExecutionId) -> Sequence[Attempt]:
        """The finished attempts, oldest first."""

    async def latest_attempts(
        self, tenant_id: TenantId, execution_id: ExecutionId, *, limit: int
    ) -> Sequence[Attempt]:
        """The newest finished ones, newest first."""


class CheckpointStore(Protocol):
    async def save(self, checkpoints: Sequence[Checkpoint]) -> Sequence[Claim]:
        """Fenced. Returns the claims that still hold; the others wrote nothing."""

    async def load(self, execution_ids: Sequence[ExecutionId]) -> Mapping[ExecutionId, Checkpoint]: ...


class LogStore(Protocol):
    async def append(self, lines: Sequence[LogLine]) -> Sequence[Claim]:
        """Fenced. Returns the claims that still hold. A line written twice is one line."""

    async def read(
        self,
        tenant_id: TenantId,
        execution_id: ExecutionId,
        *,
        limit: int,
        after: tuple[int, int] = (0, 0),
    ) -> Sequence[LogLine]:
        """Lines in order, after the position (claim number, line number)."""


class DeadLetterStore(Protocol):
    async def get(self, tenant_id: TenantId, execution_id: ExecutionId) -> DeadLetter:
        """Raises DeadLetterNotFound."""

    async def page(
        self,
        tenant_id: TenantId,
        *,
        limit: int,
        job_id: JobId | None = None,
        after: UUID | None = None,
    ) -> Page[DeadLetter]: ...

    async def redrive(
        self,
        tenant_id: TenantId,
        redrives: Sequence[Redrive],
        *,
        now: datetime,
        revision: AtRevision = AtRevision.NEWEST,
    ) -> Sequence[Redriven]:
        """Run again as new executions, with the input of the dead ones. All or none.

        Tasks of workflows are not run by themselves: their runs go on from them, as by `runs.act`. A dead
        letter that was redriven before answers with what it became.
        Raises DeadLetterNotFound, JobNotFound, IllegalTransition.
        """

    async def purge(self, tenant_id: TenantId, execution_ids: Sequence[ExecutionId]) -> Sequence[ExecutionId]:
        """Forget dead letters, not their executions. Returns what was there."""


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


class KeyStore(Protocol):
    """Who may call. Secrets are not kept, only what proves them."""

    async def create(self, key: ApiKey) -> None:
        """Raises TenantNotFound."""

    async def create_first(self, key: ApiKey) -> bool:
        """Create it if its tenant has never had a key. Of many who try at once, one is told True."""

    async def find(self, key_id: KeyId) -> ApiKey:
        """Of any tenant, revoked and expired ones too. Raises KeyNotFound."""

    async def page(self, tenant_id: TenantId, *, limit: int, after: UUID | None = None) -> Page[ApiKey]: ...

    async def revoke(self, tenant_id: TenantId, key_id: KeyId, *, now: datetime) -> ApiKey:
        """For good. Repeated, the first time counts. Raises KeyNotFound.

        Raises LastAdminKey if no other key of the tenant would administer it. Two calls at once cannot
        revoke the last two.
        """

    async def used(self, uses: Mapping[KeyId, datetime]) -> None:
        """Keep when keys were last used. A later time wins; keys that are gone are passed over."""


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


class Store(Protocol):
    """All durable state, by noun."""

    @property
    def tenants(self) -> TenantStore: ...
    @property
    def jobs(self) -> JobStore: ...
    @property
    def schedules(self) -> ScheduleStore: ...
    @property
    def calendars(self) -> CalendarStore: ...
    @property
    def executions(self) -> ExecutionStore: ...
    @property
    def checkpoints(self) -> CheckpointStore: ...
    @property
    def logs(self) -> LogStore: ...
    @property
    def dead_letters(self) -> DeadLetterStore: ...
    @property
    def workers(self) -> WorkerStore: ...
    @property
    def keys(self) -> KeyStore: ...
    @property
    def shards(self) -> ShardStore: ...
    @property
    def upkeep(self) -> UpkeepStore: ...

    async def clock(self) -> datetime:
        """What time it is for the database. For the engine's clock alone, which hands it on as a value."""

    async def close(self) -> None: ...
