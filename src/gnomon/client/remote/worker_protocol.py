"""The worker protocol: what a worker over HTTP sends, and what its server answers.

Both ends use these structs. The server reads forms and writes answers (`api/resources/{leases,workers}.py`).
A worker writes forms and reads answers (`work_store.py`). A field at its default is not sent.

A server may be older than its worker. A field that is added to an answer needs a default where a worker reads
it: see `LeaseRead` in `work_forms.py`. A worker ignores the fields that it does not know.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import UNSET, Raw

from gnomon.core.executions.records import LogLevel
from gnomon.core.values.choices import Choice
from gnomon.core.values.forms import Answer, Form

CANCEL = "cancel"  # What a renewal says when an execution shall stop.
DRAIN = "drain"  # What an answer says while a worker shall take nothing new.


# A worker ----------------------------------------------------------------------------------------------


class NewWorker(Form, omit_defaults=True):
    """Without `kinds`, what it is capable of is what it runs. `boot` tells one start from the next."""

    worker_id: str
    capacity: int = 1
    kinds: list[str] | None = None
    queues: list[str] | None = None
    capabilities: list[str] | None = None
    hostname: str | None = None
    boot: str | None = None


class Beat(Form, omit_defaults=True):
    """`capacity` changes what it registered with. `current_jobs` is not used: the leases are counted."""

    boot: str | None = None
    status: str | None = None
    current_jobs: int | None = None
    capacity: int | None = None


class WorkerAnswer(Answer):
    """`command` is `drain` while the worker shall take nothing new."""

    worker_id: str
    boot: str
    status: str
    is_live: bool
    hostname: str
    capacity: int
    current_jobs: int
    kinds: list[str]
    queues: list[str]
    capabilities: list[str]
    registered_at: datetime
    last_heartbeat: datetime
    command: str | None
    key_id: str | None
    lease_seconds: int | float
    server_time: datetime


# Claim -------------------------------------------------------------------------------------------------


class ClaimForm(Form, omit_defaults=True):
    """Sent again with its `request_id`, say that it `is_repeat`. What it does not name is as registered."""

    worker_id: str
    request_id: str
    kinds: list[str] | None = None
    queues: list[str] | None = None
    capabilities: list[str] | None = None
    limit: int = 1
    wait_seconds: int | float = 0
    is_repeat: bool = False


class Lease(Answer):
    """An execution in a worker's hands. `claim` is the fencing token: hand it on to what you write to.

    `has_input` and `has_checkpoint` tell what is `null` from what is not there.
    """

    execution_id: str
    claim: int
    tenant_id: str
    job_id: str
    revision: int
    attempt_number: int
    attempts: int
    crashes: int
    max_attempts: int
    kind: str
    payload: Raw
    input: Raw
    has_input: bool
    checkpoint: Raw
    has_checkpoint: bool
    queue: str
    capabilities: list[str]
    priority: int
    timeout_seconds: int | float | None
    max_concurrent: int | None
    delivery: str
    retry_policy: dict[str, Any]
    schedule: dict[str, Any]
    scheduled_time: datetime
    nominal_time: datetime | None
    due: datetime
    started_at: datetime
    lease_until: datetime
    cancel_requested: bool
    is_task: bool


class Claimed(Answer):
    """Renew each lease within a third of `lease_seconds`."""

    leases: list[Lease]
    lease_seconds: int | float
    server_time: datetime


# Hold on -----------------------------------------------------------------------------------------------


class Held(Form, omit_defaults=True):
    execution_id: str
    claim: int


class RenewForm(Form):
    worker_id: str
    leases: list[Held]


class Token(Answer):
    execution_id: str
    claim: int


class Renewed(Token):
    """`command` is `cancel` when somebody wants the execution to stop."""

    lease_until: datetime
    command: str | None


class RenewAnswer(Answer):
    renewed: list[Renewed]
    lost: list[Token]
    server_time: datetime


# Complete ----------------------------------------------------------------------------------------------


class OutcomeWord(Choice):
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    SNOOZED = "snoozed"
    RELEASED = "released"


class Completion(Held):
    """`outcome` decides which of the other fields count.

    `wait_is_drawn` says that `retry_after_seconds` comes from the retry policy with chance in it already: the
    server adds none of its own.
    """

    outcome: OutcomeWord
    result: Any = UNSET
    error_kind: str | None = None
    error_message: str | None = None
    permanent: bool = False
    retry_after_seconds: int | float | None = None
    wait_is_drawn: bool = False
    delay_seconds: int | float | None = None
    has_started: bool = True


class CompleteForm(Form):
    worker_id: str
    completions: list[Completion]


class Completed(Token):
    """`applied`, `replayed` (this was said before, and counted once) or `lost`. `status` if applied now."""

    answer: str
    replayed: bool
    status: str | None


class CompleteAnswer(Answer):
    results: list[Completed]


# Keep --------------------------------------------------------------------------------------------------


class CheckpointOne(Held):
    state: Any
    progress: int | float | None = None


class CheckpointForm(Form):
    worker_id: str
    checkpoints: list[CheckpointOne]


class LineOne(Held):
    """`number` counts within the attempt, from 1, so that a line that is sent twice is one line."""

    number: int
    message: str
    level: str = LogLevel.INFO
    at: str | None = None
    context: Any = UNSET


class LogForm(Form):
    worker_id: str
    lines: list[LineOne]


class KeptAnswer(Answer):
    kept: list[Token]
    lost: list[Token]
