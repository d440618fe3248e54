"""Which internet addresses a job may not call: our own table, from the IANA special-purpose registries.

The `ipaddress` module answers differently from release to release, and calls some of these global.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import TypeAlias

from gnomon.errors import InvalidInput

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_FORBIDDEN: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "this host"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "the metadata service of a cloud"),
        ("169.254.0.0/16", "link-local; the metadata service of a cloud"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "for protocols"),
        ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "a relay of 6to4"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        # Of IPv6 only 2000::/3 is given out. The rest holds loopback, addresses of IPv4 in many disguises
        # (::/96, ::ffff:0:0/96, 64:ff9b::/96, 64:ff9b:1::/48), fc00::/7, fe80::/10 and ff00::/8.
        ("::/3", "not global"),
        ("4000::/2", "not global"),
        ("8000::/1", "not global"),
        ("2001::/23", "for protocols; Teredo"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "6to4, which hides an address of IPv4"),
        ("3fff::/20", "for documentation"),
    )
)


def why_forbidden(address: Address) -> str | None:
    """What the address is for, if it is not the public internet."""
    for network, reason in _FORBIDDEN:
        if address in network:
            return reason
    return None


class AllowedAddresses:
    """What an operator lets jobs call all the same: addresses, networks, and hosts whatever they resolve to.

    `*.example` allows every host below `example`.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        """Raises InvalidInput for an entry that is none of these."""
        networks, hosts = [], set()
        for entry in entries:
            try:
                networks.append(ip_network(entry))
                continue
            except ValueError:
                pass
            name = entry.lower().rstrip(".").removeprefix("*.")
            if not name or not all(character.isalnum() or character in "-._" for character in name):
                raise InvalidInput(
                    "http_allow", f"{entry!r} is not a host, an address, or a network such as 10.0.0.0/8."
                )
            if "." in name and name.replace(".", "").isdigit():
                raise InvalidInput(
                    "http_allow", f"{entry!r} is not an address, nor a network without host bits."
                )
            hosts.add(entry.lower().rstrip("."))
        self._networks: tuple[Network, ...] = tuple(networks)
        self._hosts = frozenset(hosts)

    def host(self, name: str) -> bool:
        parts = name.split(".")
        return name in self._hosts or any(
            "*." + ".".join(parts[start:]) in self._hosts for start in range(1, len(parts))
        )

    def address(self, address: Address) -> bool:
        return any(address in network for network in self._networks)
