"""Requests and answers on the wire, for callers that wait in a loop and for those that do not."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import httpcore
import msgspec

from gnomon.errors import InvalidInput, ServerRefused, ServerUnreachable

USER_AGENT = "gnomon"
_READABLE_MAX = 200

# What means that nobody knows whether the call was heard.
TROUBLE = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError)


class ServerAddress(NamedTuple):
    """A server and the key for it."""

    url: str
    key: str

    def check(self) -> None:
        """Raises InvalidInput."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput(
                "server", f"{self.url!r} is not an address such as https://gnomon.example:8484."
            )
        if not self.key or not self.key.isascii() or not self.key.isprintable() or " " in self.key:
            raise InvalidInput("key", "is not an API key: those begin with gnm_.")


class ServerRequest(NamedTuple):
    method: str
    url: str
    headers: list[tuple[str, str]]
    content: bytes | None


def request_to(
    address: ServerAddress,
    method: str,
    path: str,
    *,
    query: Mapping[str, object] | None = None,
    content: bytes | None = None,
    headers: Iterable[tuple[str, str]] = (),
) -> ServerRequest:
    """What is None in the query is not sent."""
    said = {name: value for name, value in (query or {}).items() if value is not None}
    url = address.url.rstrip("/") + path + (f"?{urlencode(said)}" if said else "")
    sent = [
        ("Host", urlsplit(address.url).netloc),
        ("Authorization", f"Bearer {address.key}"),
        ("User-Agent", USER_AGENT),
        *headers,
    ]
    if content is not None:
        sent += [("Content-Type", "application/json"), ("Content-Length", str(len(content)))]
    return ServerRequest(method, url, sent, content)


def answer_of(status: int, content: bytes) -> bytes:
    """The body of a good answer. Raises ServerRefused."""
    if status < 300:
        return content
    try:
        error = msgspec.json.decode(content)["error"]
        raise ServerRefused(
            error["code"],
            error["message"],
            status=status,
            request_id=error["request_id"],
            details=error["details"],
        )
    except (msgspec.DecodeError, KeyError, TypeError):  # Something in between answered, such as a proxy.
        words = content[:_READABLE_MAX].decode(errors="replace").strip() or "nothing more"
        raise ServerRefused(
            "BAD_ANSWER", f"The server answered {status}: {words}", status=status, request_id=None, details={}
        ) from None


def unreachable(address: ServerAddress, error: Exception) -> ServerUnreachable:
    return ServerUnreachable(address.url, str(error) or type(error).__name__)


def trusted() -> ssl.SSLContext:
    """What this machine trusts. SSL_CERT_FILE in the environment names another list."""
    return ssl.create_default_context()
