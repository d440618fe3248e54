"""The headers of calls and answers."""

from __future__ import annotations

from typing import Any

from gnomon.api.described.field import NUMBER_MAX, Field, text, whole
from gnomon.api.serving.call import IDEMPOTENCY_KEY, IF_MATCH
from gnomon.api.serving.edge import ID_LENGTH_MAX
from gnomon.api.serving.failures import RETRY_AFTER_CROWD_SECONDS
from gnomon.api.serving.rates import WINDOW_SECONDS
from gnomon.core.values.idempotency import KEY_LENGTH_MAX

_ENDS_MAX = 2**53 - 1

CALL: dict[str, Field] = {
    "X-Request-Id": text(
        "Your name for this call, for your logs and ours. Without one, or with one of other characters, the "
        "server makes one.",
        "nightly-42",
        pattern=rf"^[A-Za-z0-9._:-]{{1,{ID_LENGTH_MAX}}}$",
    ),
    IDEMPOTENCY_KEY: text(
        "A call that is repeated with the same key gets the answer of the first one, and happens once. With "
        "another body it is refused with 409 `IDEMPOTENCY_CONFLICT`. Visible ASCII characters.",
        "order-1204-report",
        up_to=KEY_LENGTH_MAX,
        pattern=rf"^[\x21-\x7e]([\x20-\x7e]{{0,{KEY_LENGTH_MAX - 2}}}[\x21-\x7e])?$",
    ),
    IF_MATCH: text(
        "The version that you have seen, as `ETag` says it; the same as `version` in the body. If the object "
        "has changed since, the call is refused with 409 `VERSION_CONFLICT`. `*`: whatever it is.",
        '"3"',
        pattern=r'^(\*|(W/)?"?[0-9]{1,9}"?)$',
    ),
}
ANSWER: dict[str, Field] = {
    "X-Request-Id": text(
        "The id of this call. The log of the server has it.", "nightly-42", up_to=ID_LENGTH_MAX, low=1
    ),
    "X-RateLimit-Limit": whole("How many such calls a minute may have.", 1000, 0, NUMBER_MAX),
    "X-RateLimit-Remaining": whole("How many of them are left.", 997, 0, NUMBER_MAX),
    "X-RateLimit-Reset": whole("When the minute ends, in seconds since 1970.", 1774774860, 0, _ENDS_MAX),
    "ETag": text("The version of the object, for `If-Match`.", '"3"', pattern=r'^"[0-9]{1,10}"$'),
    "Location": text(
        "The path of what was created.", "/v1/jobs/019a96f2-6c00-7a31-8b52-4f1d0c9e7a10", pattern=r"^/v1/"
    ),
    "Retry-After": whole("Call again after so many seconds.", RETRY_AFTER_CROWD_SECONDS, 0, WINDOW_SECONDS),
    "WWW-Authenticate": text("Which kind of key is wanted.", "Bearer", pattern="^Bearer$"),
    "Allow": text("The methods that this path has.", "GET, HEAD, POST", pattern=r"^[A-Z]+(, [A-Z]+)*$"),
    "Connection": text("The server closes the connection after this answer.", "close", pattern="^close$"),
}
RATED = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


def parameters(*, takes_key: bool, takes_version: bool) -> list[dict[str, Any]]:
    """The headers of a call, as OpenAPI has them."""
    names = [
        *([IDEMPOTENCY_KEY] if takes_key else []),
        *([IF_MATCH] if takes_version else []),
        "X-Request-Id",
    ]
    return [parameter(name, "header", CALL[name]) for name in names]


def parameter(
    name: str, place: str, row: Field, *, is_required: bool = False, default: Any = None
) -> dict[str, Any]:
    schema = {**row.schema, **({} if default is None else {"default": default})}
    words = schema.pop("description")
    [example] = schema.pop("examples")
    return {
        "name": name,
        "in": place,
        "description": words,
        "required": is_required,
        "schema": schema,
        "example": example,
    }


def of_answers() -> dict[str, Any]:
    """By name, to be referred to."""
    return {name: _header(row) for name, row in ANSWER.items()}


def referred(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _header(row: Field) -> dict[str, Any]:
    return {"description": row.text, "schema": {**row.schema}, "example": row.example}
