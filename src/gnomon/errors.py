"""Everything Gnomon refuses, with what was wrong, with what, and what to do.

One base class. Facts are attributes; the API maps the class (`code`, `http_status`), never the text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Self
from uuid import UUID

SHOWN_MAX = 100  # Characters of a word that a caller wrote.


class GnomonError(Exception):
    """The base of every error that Gnomon raises on purpose."""

    code = "INTERNAL_ERROR"
    http_status = 500

    @property
    def details(self) -> Mapping[str, object]:
        """The facts of this error, ready for JSON: what a caller needs to repair the call."""
        return {}


# What callers send ------------------------------------------------------------------------------


class InvalidInput(GnomonError):
    """A value that Gnomon cannot accept. `field` is the path of the value in the caller's words."""

    code = "INVALID_INPUT"
    http_status = 400

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason

    def at(self, field: str) -> Self:
        """The same refusal, of the value in the place where the caller wrote it."""
        self.field = field
        self.args = (f"{field}: {self.reason}",)
        return self

    @property
    def details(self) -> Mapping[str, object]:
        return {"field": self.field, "reason": self.reason}


class InvalidSetting(InvalidInput):
    """A setting with a value that is not accepted, and where that value was said."""

    code = "INVALID_SETTING"

    def __init__(self, name: str, *, value: str, origin: str, accepted: str) -> None:
        super().__init__(name, f"{value}, from {origin}, is not accepted; give {accepted}.")
        self.value = value
        self.origin = origin
        self.accepted = accepted

    @property
    def details(self) -> Mapping[str, object]:
        return {"field": self.field, "value": self.value, "origin": self.origin, "accepted": self.accepted}


class UnknownKind(InvalidInput):
    """No handler that is installed here runs this kind, and no live worker has registered it."""

    code = "UNKNOWN_KIND"

    def __init__(self, kind: str, *, known: str) -> None:
        """`known` is a sentence about those that there are."""
        shown = repr(kind[:SHOWN_MAX])
        advice = "For a kind that only a worker elsewhere has, say allow_unknown_kind."
        super().__init__("kind", f"no handler here and no live worker runs {shown}.{known} {advice}")
        self.kind = kind


class KindDisabled(InvalidInput):
    """The setting handlers.enabled of this process leaves the kind out."""

    code = "KIND_DISABLED"

    def __init__(self, kind: str, *, enabled: Collection[str]) -> None:
        on = ", ".join(sorted(enabled))
        shown = repr(kind[:SHOWN_MAX])
        super().__init__("kind", f"{shown} is off here; the setting handlers.enabled allows {on}.")
        self.kind = kind


class PayloadTooLarge(InvalidInput):
    code = "PAYLOAD_TOO_LARGE"
    http_status = 413

    def __init__(self, field: str, *, size_bytes: int, size_bytes_max: int) -> None:
        super().__init__(field, f"{size_bytes} bytes as JSON; at most {size_bytes_max} are kept.")
        self.size_bytes = size_bytes
        self.size_bytes_max = size_bytes_max


class InvalidCron(InvalidInput):
    """A cron expression that cannot be read or can never fire."""

    code = "INVALID_CRON"

    def __init__(self, expression: str, *, part: str, value: str, reason: str) -> None:
        super().__init__("cron", f"{reason} ({part}: {value!r} in {expression!r})")
        self.expression = expression
        self.part = part
        self.value = value
        self.cause = reason

    @property
    def details(self) -> Mapping[str, object]:
        return {"field": self.field, "part": self.part, "value": self.value, "reason": self.cause}


class InvalidTimezone(InvalidInput):
    code = "INVALID_TIMEZONE"

    def __init__(self, name: str) -> None:
        super().__init__("timezone", f"{name!r} is not an IANA time zone such as 'Europe/Berlin' or 'UTC'.")
        self.name = name


class InvalidDependency(InvalidInput):
    code = "INVALID_DEPENDENCY"

    def __init__(self, reason: str) -> None:
        super().__init__("dependencies", reason)


class InvalidDag(InvalidInput):
    """A workflow that could never run. `problem` is a word that a program can compare."""

    code = "INVALID_DAG"

    def __init__(self, problem: str, *, field: str, reason: str, task: str | None = None) -> None:
        super().__init__(field, reason)
        self.problem = problem
        self.task = task

    @property
    def details(self) -> Mapping[str, object]:
        return {"field": self.field, "problem": self.problem, "task": self.task, "reason": self.reason}


# Who may call ---------------------------------------------------------------------------------------


class Unauthorized(GnomonError):
    """No key, or none that is valid now. Which of them it is, nobody is told."""

    code = "UNAUTHORIZED"
    http_status = 401

    def __init__(self) -> None:
        super().__init__("No valid API key. Send one in the header Authorization: Bearer gnm_...")


class Forbidden(GnomonError):
    """The key is valid, and does not allow this."""

    code = "FORBIDDEN"
    http_status = 403

    def __init__(self, scope: str) -> None:
        super().__init__(f"This key does not have the scope {str(scope)!r}, which this call needs.")
        self.scope = scope

    @property
    def details(self) -> Mapping[str, object]:
        return {"scope": self.scope}


class WorkerOfAnotherKey(GnomonError):
    """A key speaks for the workers that it registered, and for no other."""

    code = "WORKER_OF_ANOTHER_KEY"
    http_status = 403

    def __init__(self, worker_id: str) -> None:
        super().__init__(
            f"Worker {worker_id} was not registered with this key. Call with the key that registered it, or "
            "register a worker of your own."
        )
        self.worker_id = worker_id

    @property
    def details(self) -> Mapping[str, object]:
        return {"worker_id": self.worker_id}


class RateLimited(GnomonError):
    code = "RATE_LIMITED"
    http_status = 429

    def __init__(self, *, limit: int, retry_after_seconds: int, reset: int) -> None:
        super().__init__(f"More than {limit} calls in a minute. Try again in {retry_after_seconds} s.")
        self.limit = limit
        self.reset = reset  # In seconds since 1970.
        self.retry_after_seconds = retry_after_seconds

    @property
    def details(self) -> Mapping[str, object]:
        return {"limit": self.limit, "retry_after_seconds": self.retry_after_seconds}


class TooManyStreams(GnomonError):
    """A key or a tenant holds as many streams open as it may."""

    code = "TOO_MANY_STREAMS"
    http_status = 429

    def __init__(self, limit: int, *, of: str, setting: str) -> None:
        super().__init__(
            f"This {of} holds {limit} streams open, the most it may ({setting}). Close one, then try again."
        )
        self.limit = limit
        self.of = of

    @property
    def details(self) -> Mapping[str, object]:
        return {"limit": self.limit, "of": self.of}


class TooManyAnswers(GnomonError):
    """A key has large answers under way that it has not read."""

    code = "TOO_MANY_ANSWERS"
    http_status = 429

    def __init__(self, limit: int, *, size_bytes: int) -> None:
        super().__init__(
            f"This key has large answers under way. With these {size_bytes} bytes they exceed {limit}, "
            "the most that a key may have (api.answer_bytes_per_key). Read them, or ask for shorter pages."
        )
        self.limit = limit
        self.size_bytes = size_bytes

    @property
    def details(self) -> Mapping[str, object]:
        return {"limit": self.limit, "size_bytes": self.size_bytes}


class TooManyConnections(GnomonError):
    """An address, or all of them together, hold as many connections as they may."""

    code = "TOO_MANY_CONNECTIONS"
    http_status = 503

    def __init__(self, limit: int, *, address: str | None = None) -> None:
        holder = "All clients together hold" if address is None else f"{address} holds"
        super().__init__(f"{holder} {limit} connections, the most that this node serves. Close some.")
        self.limit = limit
        self.address = address

    @property
    def details(self) -> Mapping[str, object]:
        return {"limit": self.limit, "address": self.address}


class RequestTimeout(GnomonError):
    """The head or the body of a request took too long to arrive."""

    code = "REQUEST_TIMEOUT"
    http_status = 408

    def __init__(self, part: str, seconds: float) -> None:
        super().__init__(f"The {part} of the request did not arrive within {seconds:g} s.")
        self.part = part
        self.seconds = seconds

    @property
    def details(self) -> Mapping[str, object]:
        return {"part": self.part, "seconds": self.seconds}


class ClientGone(GnomonError):
    """The client closed its connection before the request had arrived. No answer reaches it."""

    code = "CLIENT_GONE"
    http_status = 499

    def __init__(self) -> None:
        super().__init__("The client closed the connection before the body had arrived.")


class MethodNotAllowed(GnomonError):
    code = "METHOD_NOT_ALLOWED"
    http_status = 405

    def __init__(self, method: str, *, allowed: Collection[str]) -> None:
        super().__init__(f"{method} is not possible here. Possible: {', '.join(sorted(allowed))}.")
        self.allowed = frozenset(allowed)

    @property
    def details(self) -> Mapping[str, object]:
        return {"allowed": sorted(self.allowed)}


class UpgradeRequired(GnomonError):
    code = "UPGRADE_REQUIRED"
    http_status = 426

    def __init__(self) -> None:
        super().__init__(
            "This is a WebSocket: connect with ws:// or wss://. Or ask GET /v1/events/stream for the same."
        )


# What the state of things forbids ------------------------------------------------------------------


class NotFound(GnomonError):
    code = "NOT_FOUND"
    http_status = 404
    noun = "object"

    def __init__(self, id: UUID | str) -> None:
        super().__init__(f"There is no {self.noun} {id}.")
        self.id = id
        self.field: str | None = None  # Where the caller named it, if that was in a form.

    @property
    def details(self) -> Mapping[str, object]:
        return {} if self.field is None else {"field": self.field, "reason": str(self)}


class TenantNotFound(NotFound):
    code = "TENANT_NOT_FOUND"
    noun = "tenant"


class JobNotFound(NotFound):
    code = "JOB_NOT_FOUND"
    noun = "job"


class DagNotFound(NotFound):
    code = "DAG_NOT_FOUND"
    noun = "workflow"


class RunNotFound(NotFound):
    code = "DAG_RUN_NOT_FOUND"
    noun = "run of a workflow"


class BackfillNotFound(NotFound):
    code = "BACKFILL_NOT_FOUND"
    noun = "backfill"


class ExecutionNotFound(NotFound):
    code = "EXECUTION_NOT_FOUND"
    noun = "execution"


class DeadLetterNotFound(NotFound):
    code = "DEAD_LETTER_NOT_FOUND"
    noun = "dead letter"


class WorkerNotFound(NotFound):
    code = "WORKER_NOT_FOUND"
    noun = "worker"


class KeyNotFound(NotFound):
    code = "KEY_NOT_FOUND"
    noun = "API key"


class CalendarNotFound(NotFound):
    code = "CALENDAR_NOT_FOUND"
    noun = "calendar"


class Conflict(GnomonError):
    """The call was fine; the state it met was not."""

    code = "CONFLICT"
    http_status = 409


class TenantAlreadyExists(Conflict):
    code = "TENANT_ALREADY_EXISTS"

    def __init__(self, name: str) -> None:
        super().__init__(f"A tenant named {name!r} exists already. Choose another name.")
        self.name = name


class LastAdminKey(Conflict):
    """Without this key, no key of the tenant could make another."""

    code = "LAST_ADMIN_KEY"

    def __init__(self, key_id: UUID) -> None:
        super().__init__(
            f"API key {key_id} is the last valid key with the scope 'admin'. Make another one first "
            "(`gnomon key create NAME --scope admin`), then revoke this one with it."
        )
        self.key_id = key_id

    @property
    def details(self) -> Mapping[str, object]:
        return {"key_id": str(self.key_id)}


class JobAlreadyExists(Conflict):
    code = "JOB_ALREADY_EXISTS"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"A job or workflow named {name!r} exists already. Update it, or choose another name."
        )
        self.name = name

    @property
    def details(self) -> Mapping[str, object]:
        return {"name": self.name}


class WorkerNameTaken(Conflict):
    """A worker of this name lives, and is not the caller's, or started later."""

    code = "WORKER_NAME_TAKEN"

    def __init__(self, worker_id: str) -> None:
        super().__init__(
            f"A worker named {worker_id!r} is alive: one of another key, or one that started later. Choose "
            "another name. The name is free once that worker has left, or has been silent for a minute, and "
            "holds no lease."
        )
        self.worker_id = worker_id

    @property
    def details(self) -> Mapping[str, object]:
        return {"worker_id": self.worker_id}


class BackfillOverlaps(Conflict):
    """Another backfill of the same workflow is under way for some of the same times."""

    code = "BACKFILL_OVERLAPS"

    def __init__(self, backfill_id: UUID) -> None:
        super().__init__(
            f"Backfill {backfill_id} is under way for some of these times. Wait for it, or cancel it."
        )
        self.backfill_id = backfill_id

    @property
    def details(self) -> Mapping[str, object]:
        return {"backfill_id": str(self.backfill_id)}


class CalendarInUse(Conflict):
    """Schedules name the calendar. `users` are some of their jobs and workflows, by name."""

    code = "CALENDAR_IN_USE"

    def __init__(self, name: str, *, users: Sequence[str]) -> None:
        super().__init__(
            f"The calendar {name!r} is named by the schedule of {', '.join(map(repr, users))}. "
            "Take it out of their schedules, or delete them, before you delete the calendar."
        )
        self.name = name
        self.users = users

    @property
    def details(self) -> Mapping[str, object]:
        return {"name": self.name, "users": list(self.users)}


class VersionConflict(Conflict):
    code = "VERSION_CONFLICT"

    def __init__(self, id: UUID | str, *, expected: int, actual: int, noun: str = "job") -> None:
        super().__init__(
            f"The {noun} {id} is at version {actual}, not {expected}. Read it again, then repeat the change."
        )
        self.id = id
        self.expected = expected
        self.actual = actual

    @property
    def details(self) -> Mapping[str, object]:
        return {"expected": self.expected, "actual": self.actual}


class JobFired(Conflict):
    """The job fired between the read that a change was decided on and the change."""

    code = "JOB_FIRED"

    def __init__(self, job_id: UUID) -> None:
        super().__init__(
            f"Job {job_id} fired while it was being changed. Read it again, then repeat the change."
        )
        self.job_id = job_id


class IllegalTransition(Conflict):
    code = "ILLEGAL_TRANSITION"

    def __init__(self, noun: str, *, status: str, action: str, advice: str = "") -> None:
        article = "An" if noun[0] in "aeiou" else "A"
        # Not by repr: both may be words of an enumeration.
        what = f"{article} {noun} that is {status} cannot be changed by '{action}'."
        super().__init__(f"{what} {advice}".rstrip())
        self.status = status
        self.action = action

    @property
    def details(self) -> Mapping[str, object]:
        return {"status": self.status, "action": self.action}


class IdempotencyConflict(Conflict):
    code = "IDEMPOTENCY_CONFLICT"

    def __init__(self, key: str) -> None:
        super().__init__(f"Idempotency key {key!r} was used before with another request. Use a new key.")
        self.key = key


class LeaseLost(Conflict):
    """The claim is no longer current: somebody else owns the execution, or it has ended."""

    code = "LEASE_LOST"

    def __init__(
        self, execution_id: UUID, *, claim: int, details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(f"Claim {claim} of execution {execution_id} is no longer current; drop its result.")
        self.execution_id = execution_id
        self.claim = claim
        self._details = details or {}

    @property
    def details(self) -> Mapping[str, object]:
        return {"execution_id": str(self.execution_id), "claim": self.claim, **self._details}


class EventsGone(Conflict):
    """Somebody wants to go on from an event that is no longer kept."""

    code = "EVENTS_GONE"
    http_status = 410

    def __init__(self) -> None:
        super().__init__("Events after that one are no longer kept. Read what is, and start anew.")


class RunFailed(Conflict):
    """Somebody wanted the result of a run that ended without one. `kind` is that of its last failure."""

    code = "RUN_FAILED"

    def __init__(self, execution_id: UUID, *, status: str, kind: str, message: str) -> None:
        super().__init__(f"Run {execution_id} ended {status} ({kind}): {message}")
        self.execution_id = execution_id
        self.status = status
        self.kind = kind
        self.message = message

    @property
    def details(self) -> Mapping[str, object]:
        return {"status": self.status, "kind": self.kind, "message": self.message}


class RunNotEnded(Conflict, TimeoutError):
    """Somebody wanted the result of a run, and did not want to wait longer."""

    code = "RUN_NOT_ENDED"

    def __init__(self, execution_id: UUID, *, status: str) -> None:
        super().__init__(f"Run {execution_id} has not ended yet; it is {status}. Ask again, or wait longer.")
        self.execution_id = execution_id
        self.status = status

    @property
    def details(self) -> Mapping[str, object]:
        return {"status": self.status}


# What the store cannot do ----------------------------------------------------------------------------


class StoreError(GnomonError):
    """The database cannot serve us, or must not."""

    code = "STORE_UNAVAILABLE"
    http_status = 503

    # What callers are told instead of what the database said: that may name hosts, paths or statements.
    TOLD = "The store cannot serve this now. The call may or may not have happened: ask again."


class StoreUnavailable(StoreError):
    """The database did not answer. The call may or may not have happened: ask again, idempotently."""


class StoreRefused(StoreError):
    """The database answers, but Gnomon must not run on it as it is (fsync off, standby, wrong schema)."""

    code = "STORE_REFUSED"


class SchedulerUnavailable(GnomonError):
    """The store answers, but something that Gnomon needs to do its work does not."""

    code = "SCHEDULER_UNAVAILABLE"
    http_status = 503

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__(" ".join(reasons.values()))
        self.reasons = reasons

    @property
    def details(self) -> Mapping[str, object]:
        return {"reasons": dict(self.reasons)}


class SchemaMismatch(SchedulerUnavailable):
    """The store answers, but its schema is not one that this release can run on."""

    code = "SCHEMA_MISMATCH"


# What a server far away cannot do ---------------------------------------------------------------------


class ServerRefused(GnomonError):
    """An error that a server answered with: its code, its words, and the id to look for in its log."""

    def __init__(
        self, code: str, message: str, *, status: int, request_id: str | None, details: Mapping[str, object]
    ) -> None:
        super().__init__(message)
        self.code = code
        self.http_status = status
        self.request_id = request_id
        self._details = details

    @property
    def details(self) -> Mapping[str, object]:
        return self._details


class ServerUnreachable(GnomonError):
    """No server answered. The call may or may not have happened."""

    code = "SERVER_UNREACHABLE"
    http_status = 503

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"No answer from {url}: {reason}. Is it the right address, and does it run?")
        self.url = url
        self.reason = reason

    @property
    def details(self) -> Mapping[str, object]:
        return {"url": self.url, "reason": self.reason}


class NoKey(GnomonError):
    """A command that talks to a server was given no key for it."""

    code = "NO_KEY"
    http_status = 401

    def __init__(self, url: str) -> None:
        super().__init__(
            f"There is no API key for {url}. Set GNOMON_KEY, or run `gnomon login --server {url}`."
        )
        self.url = url


# What this installation lacks ------------------------------------------------------------------------


class HandlerBroken(GnomonError):
    """An installed handler cannot be used. The others can."""

    code = "HANDLER_BROKEN"

    def __init__(self, entry_point: str, *, distribution: str, reason: str) -> None:
        super().__init__(
            f"The handler {entry_point!r} of the distribution {distribution!r} cannot be used: {reason}"
        )
        self.entry_point = entry_point
        self.distribution = distribution
        self.reason = reason

    @property
    def details(self) -> Mapping[str, object]:
        return {"entry_point": self.entry_point, "distribution": self.distribution, "reason": self.reason}


class StoreTaken(StoreRefused):
    """Another process works alone on this database file. `process_id` and `host` are None if unknown."""

    code = "STORE_TAKEN"

    def __init__(self, path: str, *, process_id: int | None, host: str | None) -> None:
        by = f"process {process_id} on {host}" if process_id is not None else "another process"
        super().__init__(f"{path} is taken by {by}. Stop that one first, or choose another database.")
        self.path = path
        self.process_id = process_id
        self.host = host

    @property
    def details(self) -> Mapping[str, object]:
        return {"path": self.path, "process_id": self.process_id, "host": self.host}
