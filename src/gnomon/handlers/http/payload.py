"""What a job of the kind `http` says, checked alike when it is saved and when it runs."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import msgspec

from gnomon.core.values.choices import Choice
from gnomon.core.values.document import JSON
from gnomon.errors import InvalidInput

HEADERS_MAX = 100
HEADER_LENGTH_MAX = 8192
TIMEOUT_SECONDS_MAX = 3600

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?")
_RANGE = re.compile(r"([1-5])xx|([1-5][0-9]{2})-([1-5][0-9]{2})")

# What belongs to the connection, or is ours to say.
_FORBIDDEN_HEADERS = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "idempotency-key",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_FORBIDDEN_PREFIXES = ("gnomon-", "proxy-")


class Method(Choice):
    GET = "GET"
    HEAD = "HEAD"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"
    OPTIONS = "OPTIONS"


_Seconds = Annotated[float, msgspec.Meta(gt=0, le=TIMEOUT_SECONDS_MAX)]
_Statuses = Annotated[list[int | str], msgspec.Meta(min_length=1, max_length=100)]


class HttpPayload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    url: str
    method: Method | None = None  # POST if there is something to send, else GET.
    headers: dict[str, str] = {}
    body: str | None = None
    json: Any = msgspec.UNSET
    expected_status: _Statuses = msgspec.field(default_factory=lambda: ["2xx"])
    timeout_seconds: _Seconds | None = None
    follow_redirects: bool = False

    def check(self) -> None:
        """Everything but the address. Raises InvalidInput."""
        if self.body is not None and self.json is not msgspec.UNSET:
            raise InvalidInput("payload.json", "stands alone, without `body`.")
        if len(self.headers) > HEADERS_MAX:
            raise InvalidInput("payload.headers", f"more than {HEADERS_MAX}.")
        for name, value in self.headers.items():
            _check_header(name, value)
        for number, entry in enumerate(self.expected_status):
            _statuses(entry, field=f"payload.expected_status[{number}]")

    def expects(self, status: int) -> bool:
        return any(status in _statuses(entry, field="payload") for entry in self.expected_status)

    def content(self, given: JSON) -> bytes | None:
        """What to send. The input of the execution goes over a `json` that is an object, or stands for it."""
        if self.body is not None:
            return self.body.encode()
        value: Any = self.json
        if isinstance(given, dict) and self.method not in ("GET", "HEAD"):
            if value is msgspec.UNSET:
                value = given
            elif isinstance(value, dict):
                value = value | given
        if value is msgspec.UNSET:
            return None
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _check_header(name: str, value: str) -> None:
    field = f"payload.headers.{name}"
    if not _NAME.fullmatch(name):
        raise InvalidInput("payload.headers", f"{name!r} is not the name of a header.")
    if name.lower() in _FORBIDDEN_HEADERS or name.lower().startswith(_FORBIDDEN_PREFIXES):
        raise InvalidInput(field, "is not for a job to set.")
    if len(value) > HEADER_LENGTH_MAX or not _VALUE.fullmatch(value):
        raise InvalidInput(
            field, f"must be printable ASCII on one line, of at most {HEADER_LENGTH_MAX} characters."
        )


def _statuses(entry: int | str, *, field: str) -> range:
    if isinstance(entry, int):
        if 100 <= entry <= 599:
            return range(entry, entry + 1)
    elif found := _RANGE.fullmatch(entry.lower()):
        if found[1]:
            return range(int(found[1]) * 100, int(found[1]) * 100 + 100)
        return range(int(found[2]), int(found[3]) + 1)
    raise InvalidInput(field, f"{entry!r} is not a status such as 200, '2xx' or '200-204'.")
