"""What besiegers do: how many they are, where they come from, what they say, and when they must be gone."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from datetime import timedelta

from gnomon.settings import ApiSettings

CROWD = 5000
TEXT = 1  # Of a message over a WebSocket; 0 goes on with it.
FRAGMENT_BYTES = 32 * 1024
LOOKED_AT_WITHIN = timedelta(seconds=5)
ADDRESSES = 50


@dataclass(frozen=True)
class Attack:
    name: str
    count: int
    addresses: int
    opening: bytes = b""
    drip: bytes = b""  # Sent again and again.
    # How long the node may take to close a connection. None: they are streams, and may stay.
    within: timedelta | None = None


def attacks(chosen: ApiSettings, *, crowd: int, key: str, reader: str) -> list[Attack]:
    """`key` may write, `reader` may only read."""
    many = crowd // 4
    return [
        Attack("silent, one address", crowd, 1, within=chosen.first_byte),
        Attack("silent", crowd, ADDRESSES, within=chosen.first_byte),
        Attack("slow head", many, ADDRESSES, _head("GET /livez", "X-Slow: "), b"a", within=chosen.head),
        Attack("slow body", many, ADDRESSES, _body(key), b" ", within=chosen.body),
        Attack("idle", many, ADDRESSES, _head("GET /livez") + b"\r\n", within=chosen.idle),
        Attack("talking sockets", 100, 100, _websocket(key), _fragment(0), within=LOOKED_AT_WITHIN),
        Attack("streams", many // 2, ADDRESSES, _head("GET /v1/events/stream", _bearer(reader)) + b"\r\n"),
    ]


def _websocket(key: str) -> bytes:
    """With the beginning of a message that has no end."""
    upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    asked = f"{upgrade}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{_bearer(key)}"
    return _head("GET /v1/events", asked) + b"\r\n" + _fragment(TEXT)


def _fragment(opcode: int) -> bytes:
    """A frame that is not the last one of its message. Its mask is zero."""
    return struct.pack("!BBH4x", opcode, 0x80 | 126, FRAGMENT_BYTES) + bytes(FRAGMENT_BYTES)


def _bearer(key: str) -> str:
    return f"Authorization: Bearer {key}\r\n"


def _head(call: str, more: str = "") -> bytes:
    return f"{call} HTTP/1.1\r\nHost: gnomon.test\r\n{more}".encode()


def _body(key: str) -> bytes:
    return _head("POST /v1/jobs", f"{_bearer(key)}Content-Length: 100000\r\n\r\n{{")
