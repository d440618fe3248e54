"""The sockets of this process that a server has accepted, as the kernel shows them (Linux).

A descriptor belongs to the server, which may close it at any moment; its number may then mean something
else. A socket is therefore known by its inode, and closed through a copy of the descriptor that was checked.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import sys
from contextlib import suppress
from fcntl import ioctl
from termios import TIOCOUTQ
from typing import NamedTuple

from gnomon.api.serving.presence import Peer
from gnomon.app.door.watch import Traffic

FOLDER = "/proc/self/fd"
IS_SUPPORTED = sys.platform == "linux"
# In `struct tcp_info`: tcpi_bytes_acked and tcpi_bytes_received, since Linux 4.1.
_BYTES = struct.Struct("=QQ")
_BYTES_AT = 120
_COUNT = struct.Struct("=i")


class Door(NamedTuple):
    """One side of an accepted connection: the descriptor, and the number that the kernel gave the socket."""

    descriptor: int
    inode: int


def open_descriptors() -> list[int]:
    return [int(name) for name in os.listdir(FOLDER)]  # noqa: PTH208 - thousands, each second.


def socket_at(descriptor: int) -> Door | None:
    """None if it is no socket, or closed by now."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return Door(descriptor, found.st_ino) if stat.S_ISSOCK(found.st_mode) else None


def peer_at(descriptor: int, *, port: int) -> Peer | None:
    """Who is at the other end, if the server at `port` accepted this connection."""
    try:
        with socket.socket(fileno=os.dup(descriptor)) as copy:
            if copy.family not in (socket.AF_INET, socket.AF_INET6) or copy.getsockname()[1] != port:
                return None
            host, other = copy.getpeername()[:2]
    except OSError:
        return None
    return host.partition("%")[0], str(other)


def traffic_at(descriptor: int) -> Traffic | None:
    """None if it is closed by now."""
    try:
        borrowed = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=descriptor)
    except OSError:
        return None
    try:
        told = borrowed.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _BYTES_AT + _BYTES.size)
        [unread] = _COUNT.unpack(ioctl(descriptor, TIOCOUTQ, bytes(_COUNT.size)))
    except OSError:
        return None
    finally:
        borrowed.detach()
    if len(told) < _BYTES_AT + _BYTES.size:
        return Traffic(0, 0)
    acknowledged, received = _BYTES.unpack_from(told, _BYTES_AT)
    return Traffic(received, acknowledged, unread)


def close(door: Door, farewell: bytes) -> None:
    """Ends the connection; the server notices and gives the descriptor back."""
    with suppress(OSError), socket.socket(fileno=os.dup(door.descriptor)) as copy:
        if os.fstat(copy.fileno()).st_ino != door.inode:
            return
        if farewell:
            with suppress(BlockingIOError):
                copy.send(farewell, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        copy.shutdown(socket.SHUT_RDWR)
