"""Which errors a call may answer with, each with an example of its envelope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any
from uuid import UUID

import msgspec

from gnomon import errors
from gnomon.api.described.call import CallDescription, Refusal
from gnomon.api.described.headers import RATED, referred
from gnomon.api.described.resources import recurring as often
from gnomon.api.serving.failures import RouteNotFound, envelope_of, headers_of
from gnomon.api.serving.policy import Policy
from gnomon.errors import GnomonError

_JOB, _EXECUTION = UUID(often.JOB), UUID(often.EXECUTION)
# One of each error that an API answers with. Its words are those of the class.
EXAMPLES: list[GnomonError] = [
    errors.InvalidInput("priority", "12 is not a whole number from 0 to 9."),
    errors.UnknownKind("htpp", known=" Did you mean `http`? Known: dummy, http, python, script."),
    errors.KindDisabled("script", enabled=("http", "python")),
    errors.PayloadTooLarge("payload", size_bytes=300_000, size_bytes_max=262_144),
    errors.InvalidCron("61 * * * *", part="minute", value="61", reason="61 is not from 0 to 59"),
    errors.InvalidTimezone("Mars/Olympus"),
    errors.InvalidDependency("the job depends on itself."),
    errors.InvalidDag(
        "dag_cycle", field="tasks", reason="load needs extract, which needs load.", task="load"
    ),
    errors.Unauthorized(),
    errors.Forbidden("write"),
    errors.WorkerOfAnotherKey("worker-a1"),
    errors.RateLimited(limit=1000, retry_after_seconds=21, reset=1774774860),
    errors.TooManyStreams(100, of="key", setting="api.streams_per_key"),
    errors.TooManyAnswers(67_108_864, size_bytes=10_485_760),
    errors.TooManyConnections(256, address="192.0.2.7"),
    errors.RequestTimeout("body", 30),
    errors.MethodNotAllowed("PATCH", allowed={"GET", "HEAD", "POST"}),
    RouteNotFound("of this path"),
    errors.TenantNotFound(UUID(often.TENANT)),
    errors.JobNotFound(_JOB),
    errors.DagNotFound(UUID(often.DAG)),
    errors.RunNotFound(UUID(often.DAG_RUN)),
    errors.BackfillNotFound(UUID(often.BACKFILL)),
    errors.ExecutionNotFound(_EXECUTION),
    errors.DeadLetterNotFound(_EXECUTION),
    errors.WorkerNotFound("worker-a1"),
    errors.KeyNotFound(UUID(often.KEY)),
    errors.CalendarNotFound("holidays"),
    errors.Conflict("The state of the object does not allow this."),
    errors.LastAdminKey(UUID(often.KEY)),
    errors.JobAlreadyExists("nightly-report"),
    errors.LastAdminKey(UUID(often.KEY)),
    errors.CalendarInUse("holidays", users=["nightly-report"]),
    errors.WorkerNameTaken("worker-a1"),
    errors.BackfillOverlaps(UUID(often.BACKFILL)),
    errors.VersionConflict(_JOB, expected=3, actual=4),
    errors.JobFired(_JOB),
    errors.IllegalTransition("job", status="CANCELLED", action="pause"),
    errors.IdempotencyConflict("order-1204-report"),
    errors.LeaseLost(_EXECUTION, claim=1, details={"lost": 1}),
    errors.EventsGone(),
    errors.StoreUnavailable(),
    errors.StoreRefused("The database refuses writes."),
    errors.SchedulerUnavailable({"scheduler": "scheduler: the oldest due time is 95 s old."}),
    errors.SchemaMismatch({"schema": "schema: it is of release 12, this program needs 14."}),
    GnomonError(),
]
BY_PARAMETER: dict[str, Refusal] = {
    "job_id": errors.JobNotFound,
    "execution_id": errors.ExecutionNotFound,
    "dag_id": errors.DagNotFound,
    "dag_run_id": errors.RunNotFound,
    "backfill_id": errors.BackfillNotFound,
    "worker_id": errors.WorkerNotFound,
    "key_id": errors.KeyNotFound,
}
WITH_BODY = (errors.PayloadTooLarge, errors.RequestTimeout)
WITH_KEY = (
    errors.Unauthorized,
    errors.Forbidden,
    errors.RateLimited,
    errors.TooManyAnswers,
    errors.TooManyConnections,
    errors.StoreUnavailable,
)
WITH_VERSION = (errors.VersionConflict,)
OF_STREAMS = (errors.TooManyStreams,)


def refusals_of(
    described: CallDescription, policy: Policy, *, named: Iterable[str], has_body: bool, is_stream: bool
) -> Iterator[Refusal]:
    """By its parameters, its body and its policy, and those that its row names."""
    yield errors.InvalidInput
    yield GnomonError
    yield from described.refusals
    is_missing = any(issubclass(one, errors.DeadLetterNotFound) for one in described.refusals)
    yield from (
        BY_PARAMETER[name]
        for name in named
        if name in BY_PARAMETER and not (is_missing and name == "execution_id")
    )
    if has_body:
        yield from WITH_BODY
    if policy.scope is not None:
        yield from WITH_KEY
    if described.takes_key:
        yield errors.IdempotencyConflict
    if described.takes_version:
        yield from WITH_VERSION
    if is_stream:
        yield from OF_STREAMS


def responses(refusals: Iterable[Refusal], *, is_rated: bool) -> dict[str, Any]:
    """By status, with the codes that each may bring."""
    by_status: dict[int, set[str]] = {}
    for one in refusals:
        by_status.setdefault(one.http_status, set()).add(one.code)
    return {
        str(status): _response(status, sorted(codes), is_rated) for status, codes in sorted(by_status.items())
    }


def any_other() -> dict[str, Any]:
    """What no call names, such as a method that its path does not have."""
    codes = [errors.MethodNotAllowed.code, RouteNotFound.code]
    return {
        "description": "Any other refusal, such as 405 for a method that the path does not have.",
        "headers": referred("X-Request-Id", "Allow"),
        "content": {"application/json": {"schema": _envelope(None), "examples": _examples(codes)}},
    }


def examples() -> dict[str, Any]:
    """By code, to be referred to."""
    return {
        one.code: {"summary": _first_line(one), "value": msgspec.to_builtins(envelope_of(one, "nightly-42"))}
        for one in EXAMPLES
    }


def _response(status: int, codes: list[str], is_rated: bool) -> dict[str, Any]:
    told = {name for one in EXAMPLES if one.code in codes for name in headers_of(one)}
    # A call that was counted says so, however it is answered then.
    rated = RATED if is_rated and status != HTTPStatus.UNAUTHORIZED else ()
    names = ["X-Request-Id", *sorted({*rated, *_cased(told)})]
    schema = _envelope(codes)
    return {
        "description": f"{_phrase(status)}: {', '.join(f'`{code}`' for code in codes)}.",
        "headers": referred(*names),
        "content": {"application/json": {"schema": schema, "examples": _examples(codes)}},
    }


def _cased(names: Iterable[str]) -> Iterator[str]:
    rated = {name.lower(): name for name in RATED}
    return (rated.get(name.lower(), name) for name in names)


def _envelope(codes: list[str] | None) -> dict[str, Any]:
    envelope: dict[str, Any] = {"$ref": "#/components/schemas/Envelope"}
    if codes is None:
        return envelope
    code = {"properties": {"code": {"enum": codes}}}
    return {"allOf": [envelope, {"properties": {"error": code}}]}


def _examples(codes: Iterable[str]) -> dict[str, Any]:
    return {code: {"$ref": f"#/components/examples/{code}"} for code in codes}


def _first_line(error: GnomonError) -> str:
    return (type(error).__doc__ or str(error)).strip().partition("\n")[0]


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase
