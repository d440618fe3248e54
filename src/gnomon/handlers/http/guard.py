"""Keeps jobs of the kind `http` from calling what is inside: the worker's own host, networks and cloud.

A name is resolved once, every address it has is checked, and the connection goes to a checked address. So it
does not matter what the name resolves to a moment later. Every redirect goes through the same gate.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Protocol

import httpcore

from gnomon.handlers.http.addresses import Address, AllowedAddresses, why_forbidden

URL_LENGTH_MAX = 8192
ADDRESSES_TRIED_MAX = 4

_URL = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#]+)(?P<target>[/?][^#]*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^:\[\]@%]+))(?::(?P<port>[0-9]{1,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORTS = {"http": 80, "https": 443}

# Names by which clouds and hosts offer what is theirs alone. They are refused before anybody resolves them.
_FORBIDDEN_HOSTS = frozenset(
    {
        "instance-data",
        "instance-data.ec2.internal",
        "localhost",
        "metadata",
        "metadata.azure.internal",
        "metadata.goog",
        "metadata.google.internal",
        "metadata.internal",
    }
)


class BadUrl(Exception):
    """Not an address that can be called. The text says why."""


class ForbiddenAddress(Exception):
    """An address that a job may not call. The text says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """An address, taken apart once; nobody parses it a second time."""

    scheme: str
    host: str  # Lower case, without brackets or a dot at the end.
    literal: Address | None  # The host, if it is an address of the internet and not a name.
    port: int
    path: str  # With the query.

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if isinstance(self.literal, IPv6Address) else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host_header}{self.path}"


def target_of(url: str) -> Target:
    """Raises BadUrl for everything that two programs could read in two ways."""
    if len(url) > URL_LENGTH_MAX:
        raise BadUrl(f"longer than {URL_LENGTH_MAX} characters.")
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise BadUrl("holds a space, a backslash or a character that is not printable ASCII; escape it.")
    if "#" in url:
        raise BadUrl("holds a fragment (#), which is never sent.")
    found = _URL.fullmatch(url)
    if found is None:
        raise BadUrl("is not of the form http://host/path or https://host/path.")
    if "@" in found["authority"]:
        raise BadUrl("holds a user or a password; send them in a header.")
    authority = _AUTHORITY.fullmatch(found["authority"])
    if authority is None:
        raise BadUrl("has a host or a port that cannot be read.")
    scheme = found["scheme"].lower()
    port = int(authority["port"]) if authority["port"] else _PORTS[scheme]
    if not 1 <= port <= 65535:
        raise BadUrl("has a port that is not from 1 to 65535.")
    host, literal = _host(authority["name"], authority["six"])
    path = found["target"] or "/"
    return Target(scheme, host, literal, port, path if path.startswith("/") else f"/{path}")


def _host(name: str | None, six: str | None) -> tuple[str, Address | None]:
    try:
        if name is None:
            address = IPv6Address(six or "")
            return str(address), address
        host = name.lower().removesuffix(".")
        labels = host.split(".")
        if _NUMBER.fullmatch(labels[-1]):
            # Resolvers read 0x7f000001, 2130706433, 0177.0.0.1 and 127.1 as addresses. We take one spelling.
            return host, IPv4Address(host)
    except ValueError:
        raise BadUrl("has a host that is an odd spelling of an address.") from None
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise BadUrl("has a host that is not a name of letters, digits and hyphens (write it as xn--…).")
    return host, None


class Resolver(Protocol):
    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """The addresses of a name. Raises OSError if it has none."""


class SystemResolver:
    async def resolve(self, host: str, port: int) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        return [str(entry[4][0]) for entry in found]


class Guard:
    """Decides which addresses may be called."""

    def __init__(self, allowed: AllowedAddresses, resolver: Resolver) -> None:
        self._allowed = allowed
        self._resolver = resolver

    def check(self, target: Target) -> None:
        """What can be said without asking anybody. Raises ForbiddenAddress."""
        if self._allowed.host(target.host):
            return
        if target.literal is not None:
            self._check_address(target.host, target.literal)
        elif target.host in _FORBIDDEN_HOSTS or target.host.endswith(".localhost"):
            raise ForbiddenAddress(f"{target.host} is a name for what is inside.")

    async def addresses(self, host: str, port: int) -> list[str]:
        """Where to connect to for a host. Raises ForbiddenAddress if any address of it is forbidden."""
        try:
            return [str(self._checked(host, ip_address(host)))]
        except ValueError:
            pass  # A name.
        found = [ip_address(text) for text in dict.fromkeys(await self._resolver.resolve(host, port))]
        return [str(self._checked(host, address)) for address in found]

    def _checked(self, host: str, address: Address) -> Address:
        if not self._allowed.host(host):
            self._check_address(host, address)
        return address

    def _check_address(self, host: str, address: Address) -> None:
        reason = why_forbidden(address)
        if reason is not None and not self._allowed.address(address):
            shown = host if host == str(address) else f"{host} at {address}"
            raise ForbiddenAddress(f"Jobs may not call {shown} ({reason}). To allow it, set http.allow.")


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects to addresses that the guard has checked, and to no others. The name stays for Host and TLS."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's.
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        failure: Exception = httpcore.ConnectError(f"{host} has no address.")
        for address in (await self._guard.addresses(host, port))[:ADDRESSES_TRIED_MAX]:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
