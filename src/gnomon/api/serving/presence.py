"""Which connections have a request under way, and how many of them an address has."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

from gnomon.errors import TooManyConnections

# The address and the port of a client, as the server tells them: both are text.
Peer = tuple[str, str]

NOWHERE: Peer = ("", "")
NETWORK_BITS = 64  # What one IPv6 customer has.


@lru_cache(maxsize=10_000)
def origin_of(host: str) -> str:
    """What counts as one address: of IPv6, the network, since its owner can use each address in it."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((address.packed[: NETWORK_BITS // 8] + bytes(8), NETWORK_BITS)))


def peer_of(scope: Any) -> Peer:
    client = scope.get("client")
    return NOWHERE if client is None else (client[0], str(client[1]))


class Presence:
    """`per_address` and `total` limit the requests that are under way at once. None: no limit."""

    def __init__(self, *, per_address: int | None = None, total: int = 1_000_000) -> None:
        self.per_address = per_address
        self.total = total
        self.busy: dict[Peer, int] = {}
        self.sockets: set[Peer] = set()  # Of those, the ones that are WebSockets.
        self._by_origin: dict[str, int] = {}
        self._under_way = 0
        # Those with a request that ended since the last look.
        self._served: set[Peer] = set()

    def enter(self, peer: Peer, *, is_socket: bool = False) -> None:
        if is_socket:
            self.sockets.add(peer)
        busy, by_origin, origin = self.busy, self._by_origin, origin_of(peer[0])
        busy[peer] = busy.get(peer, 0) + 1
        by_origin[origin] = by_origin.get(origin, 0) + 1
        self._under_way += 1

    def leave(self, peer: Peer) -> None:
        self.sockets.discard(peer)
        busy, by_origin, origin = self.busy, self._by_origin, origin_of(peer[0])
        if (left := busy[peer] - 1) > 0:
            busy[peer] = left
        else:
            del busy[peer]
        if (left := by_origin[origin] - 1) > 0:
            by_origin[origin] = left
        else:
            del by_origin[origin]
        self._under_way -= 1
        self._served.add(peer)

    def check(self, peer: Peer) -> None:
        """May this request, which has entered, be served? Raises TooManyConnections."""
        limit = self.per_address
        if self._under_way <= (self.total if limit is None else min(limit, self.total)):
            return
        origin = origin_of(peer[0])
        if limit is not None and self._by_origin[origin] > limit:
            raise TooManyConnections(limit, address=origin)
        if self._under_way > self.total:
            raise TooManyConnections(self.total)

    def take_served(self) -> set[Peer]:
        """The connections of which a request ended since the last call."""
        served, self._served = self._served, set()
        return served
