"""What a caller is told when something is wrong: always the same envelope, never a trace."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import (
    HTTPException,
    InternalServerException,
    MethodNotAllowedException,
    NotFoundException,
    ValidationException,
    WebSocketException,
)

from gnomon.api.serving.rates import Quota
from gnomon.core.values.choices import allowed, one_of
from gnomon.errors import (
    ClientGone,
    GnomonError,
    InvalidInput,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    RateLimited,
    RequestTimeout,
    StoreError,
    TooManyAnswers,
    TooManyConnections,
    TooManyStreams,
    Unauthorized,
    UpgradeRequired,
)
from gnomon.logs import REQUEST_ID

logger = logging.getLogger(__name__)

RETRY_AFTER_STORE_SECONDS = 1
RETRY_AFTER_CROWD_SECONDS = 5
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE"})
# How the framework says that a client went away before its body had arrived.
_LEFT = "client disconnected prematurely"
# A WebSocket that is refused is closed with this and the status that a request would have got.
CLOSE_CODES = 4000


class ErrorBody(msgspec.Struct, frozen=True):
    code: str
    message: str
    details: dict[str, Any]
    request_id: str


class Envelope(msgspec.Struct, frozen=True):
    """Every answer with a status of 400 or more."""

    error: ErrorBody


class RouteNotFound(NotFound):
    noun = "route"


def answer(request: Request[Any, Any, Any], error: Exception) -> Response[Envelope]:
    """The one exception handler."""
    known = _known(request, error)
    if known.http_status == HTTPStatus.INTERNAL_SERVER_ERROR:
        logger.error("a request failed", exc_info=error)
    elif isinstance(known, StoreError):
        logger.warning("the store did not serve a request: %s", known)
    envelope = envelope_of(known, REQUEST_ID.get() or "none")
    return Response(
        envelope, status_code=known.http_status, headers=headers_of(known), media_type="application/json"
    )


def envelope_of(error: GnomonError, request_id: str) -> Envelope:
    return Envelope(ErrorBody(error.code, _clean(_message(error)), _clean(_details(error)), request_id))


@contextmanager
def closing_with_status(scope: Any) -> Iterator[None]:
    """For a WebSocket: the reason is noted for the answer that is sent in place of one."""
    try:
        yield
    except GnomonError as error:
        scope["gnomon.refusal"] = error
        raise WebSocketException(detail=error.code, code=CLOSE_CODES + error.http_status) from error


def _known(request: Request[Any, Any, Any], error: Exception) -> GnomonError:
    match error:
        case GnomonError():
            return error
        case ValidationException():
            return _invalid(request, error)
        case NotFoundException():
            return RouteNotFound("of this path")
        case MethodNotAllowedException():
            routed = (error.headers or {}).get("allow", "")
            methods = offered(routed.split(", "))
            return (
                MethodNotAllowed(request.scope["method"], allowed=methods) if methods else UpgradeRequired()
            )
        case InternalServerException() if error.detail == _LEFT:
            return ClientGone()
        case HTTPException() if error.status_code < 500:
            return InvalidInput("request", str(error.detail))
        case _:
            return GnomonError()


def offered(methods: Iterable[str]) -> set[str]:
    """Of the methods that the framework knows for a path, those that a caller can use."""
    ours = set(methods) & _METHODS
    return ours | ({"HEAD"} if "GET" in ours else set())


def _invalid(request: Request[Any, Any, Any], error: ValidationException) -> InvalidInput:
    """A parameter of the query or the path that does not fit its type."""
    extra = error.extra
    if isinstance(extra, list) and extra and isinstance(extra[0], dict):
        name = str(extra[0].get("key", "request"))
        if name == "data":  # What the framework calls the body, and has only if there is none.
            return InvalidInput("body", "is missing; send a JSON object.")
        parameter = request.route_handler.parsed_fn_signature.parameters.get(name)
        words = [] if parameter is None else allowed(parameter.annotation, "")
        said = getattr(parameter and parameter.kwarg_definition, "name", None) or name
        return InvalidInput(said, f"{extra[0].get('message', '')}{one_of(words)}")
    return InvalidInput("request", "does not fit this call.")


def _message(error: GnomonError) -> str:
    if error.http_status < 500:
        return str(error)
    if isinstance(error, StoreError):
        return error.TOLD
    return str(error) or "Something went wrong here. The log has more, under this request id."


def _details(error: GnomonError) -> dict[str, object]:
    return {} if isinstance(error, StoreError) else dict(error.details)


def _clean(value: Any) -> Any:
    """An error quotes what it was given, which may hold what is not text."""
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case dict():
            return {_clean(key): _clean(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_clean(inner) for inner in value]
        case _:
            return value


def headers_of(error: GnomonError) -> dict[str, str]:
    match error:
        case RateLimited():
            quota = Quota(error.limit, 0, error.reset)
            told = {name.decode(): value.decode() for name, value in quota.headers}
            return {"Retry-After": str(error.retry_after_seconds), **told}
        case MethodNotAllowed():
            return {"Allow": ", ".join(sorted(error.allowed))}
        case UpgradeRequired():
            return {"Connection": "Upgrade", "Upgrade": "websocket"}
        case TooManyStreams() | TooManyAnswers():
            return {"Retry-After": str(RETRY_AFTER_CROWD_SECONDS)}
        case TooManyConnections():
            return {"Retry-After": str(RETRY_AFTER_CROWD_SECONDS), "Connection": "close"}
        case StoreError():
            return {"Retry-After": str(RETRY_AFTER_STORE_SECONDS)}
        case Unauthorized():
            return {"WWW-Authenticate": "Bearer"}
        case PayloadTooLarge() | RequestTimeout() | ClientGone():
            return {"Connection": "close"}
        case _:
            return {}
