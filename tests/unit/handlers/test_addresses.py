"""Which addresses are inside, and in which spellings they come."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from gnomon.errors import InvalidInput
from gnomon.handlers.http.addresses import AllowedAddresses, why_forbidden

# The first and the last address of each network in the IANA special-purpose registries that is not global,
# and the values that `ipaddress` of some Python releases calls global.
FORBIDDEN = """
    0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.255
    169.254.0.0 169.254.169.254 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.100 192.0.0.255
    192.0.2.1 192.88.99.1 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.7 203.0.113.9
    224.0.0.1 239.255.255.255 240.0.0.0 255.255.255.255 168.63.129.16 100.100.100.200
    :: ::1 ::169.254.169.254 ::ffff:169.254.169.254 ::ffff:8.8.8.8 64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1
    100:0:0:1::1 2001::1 2001:1::1 2001:2::1 2001:10::1 2001:20::1 2001:30::1 2001:db8::1
    2002:a9fe:a9fe:: 3fff::1 5f00::1
    fc00::1 fd00:ec2::254 fdff::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1 4000::1 8000::1
"""
GLOBAL = "8.8.8.8 1.1.1.1 100.63.255.255 172.32.0.1 2606:4700::1111 2a00:1450::1 2001:4860:4860::8888"


@pytest.mark.parametrize("text", FORBIDDEN.split())
def test_what_is_inside_is_forbidden(text: str) -> None:
    assert why_forbidden(ip_address(text)) is not None


@pytest.mark.parametrize("text", GLOBAL.split())
def test_what_is_public_is_not(text: str) -> None:
    assert why_forbidden(ip_address(text)) is None


def test_an_operator_allows_addresses_networks_and_hosts() -> None:
    allowed = AllowedAddresses(["127.0.0.1", "10.0.0.0/8", "fd00::/8", "Internal.Example", "*.corp.example"])
    assert allowed.address(ip_address("127.0.0.1"))
    assert allowed.address(ip_address("10.9.8.7"))
    assert allowed.address(ip_address("fd00::1"))
    assert not allowed.address(ip_address("127.0.0.2"))
    assert not allowed.address(ip_address("::ffff:10.0.0.1"))
    assert allowed.host("internal.example")
    assert not allowed.host("x.internal.example")
    assert allowed.host("a.b.corp.example")
    assert not allowed.host("corp.example")
    assert not allowed.host("evilcorp.example")


@pytest.mark.parametrize("entry", ["", "10.0.0.1/8", "10.0.0", "http://x", "a b", "*", "x/y"])
def test_an_entry_that_cannot_be_read_is_refused(entry: str) -> None:
    with pytest.raises(InvalidInput):
        AllowedAddresses([entry])
