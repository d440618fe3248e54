"""Which connections must go: decided from what the kernel and the application say. Touches no socket."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gnomon.api.serving.presence import Peer, origin_of
from gnomon.settings import ApiSettings

# What may arrive on a WebSocket: pings and pongs. Its client has nothing to say, and the server keeps a
# message in memory until it is whole.
SOCKET_BYTES_MAX = 64 * 1024
SOCKET_BYTES_PER_SECOND = 128


class Why(StrEnum):
    SILENT = "sent nothing"
    SLOW_HEAD = "took too long for the head of a request"
    IDLE = "idle"
    ADDRESS_FULL = "one address has too many connections"
    FULL = "there are too many connections"
    TALKATIVE = "a WebSocket on which too much was sent"
    UNREAD = "does not read what it asked for"


# Of connections with a request under way, only these are closed.
WHILE_BUSY = frozenset({Why.TALKATIVE, Why.UNREAD})


class Traffic(NamedTuple):
    """Bytes that arrived; bytes of ours that the other side has acknowledged; those that it has not."""

    received: int
    acknowledged: int
    unread: int = 0


NONE = Traffic(0, 0)


class Sighting(NamedTuple):
    """A connection, as it is now."""

    peer: Peer
    traffic: Traffic


@dataclass(frozen=True, slots=True)
class Limits:
    """Times are in seconds. None: no limit."""

    first_byte: float
    head: float
    idle: float
    per_address: int | None
    total: int

    @classmethod
    def of(cls, chosen: ApiSettings, *, total: int) -> Limits:
        return cls(
            first_byte=chosen.first_byte.total_seconds(),
            head=chosen.head.total_seconds(),
            idle=chosen.idle.total_seconds(),
            per_address=chosen.connections_per_address,
            total=total,
        )


@dataclass(slots=True)
class Guest:
    """A connection that has been seen before."""

    peer: Peer
    moved_at: float  # When bytes were last seen to move, or a request under way.
    traffic: Traffic = NONE
    head_since: float | None = None  # Since when a head has been arriving.
    was_served: bool = False
    socket_since: float | None = None
    unread_since: float | None = None  # Since when the other side has taken none of what is there for it.
    received_before: int = 0  # Until it became a WebSocket.

    def served(self, traffic: Traffic, now: float) -> None:
        self.traffic, self.moved_at, self.head_since, self.was_served = traffic, now, None, True

    def says_too_much(self, traffic: Traffic, now: float) -> bool:
        """Of a WebSocket, to be asked before it is noted as served."""
        if self.socket_since is None:
            self.socket_since, self.received_before = now, self.traffic.received
        allowed = SOCKET_BYTES_MAX + SOCKET_BYTES_PER_SECOND * (now - self.socket_since)
        return traffic.received - self.received_before > allowed

    def reads_nothing(self, traffic: Traffic, limits: Limits, now: float) -> bool:
        """While a request is under way, to be asked before it is noted as served."""
        if not traffic.unread or traffic.acknowledged != self.traffic.acknowledged:
            self.unread_since = None
            return False
        if self.unread_since is None:
            self.unread_since = now
        return now - self.unread_since >= limits.idle

    def rested(self, traffic: Traffic, now: float) -> None:
        """No request is under way, and none ended since the last look."""
        if traffic.received > self.traffic.received and self.head_since is None:
            self.head_since = now
        if traffic != self.traffic:
            self.traffic, self.moved_at = traffic, now

    def overdue(self, limits: Limits, now: float) -> Why | None:
        if self.head_since is not None:
            return Why.SLOW_HEAD if now - self.head_since >= limits.head else None
        if self.was_served:
            return Why.IDLE if now - self.moved_at >= limits.idle else None
        return Why.SILENT if now - self.moved_at >= limits.first_byte else None


class Watch:
    """Remembers connections by the number that the kernel gave them."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.guests: dict[int, Guest] = {}

    def look(
        self,
        seen: Mapping[int, Sighting],
        *,
        busy: Container[Peer],
        served: Container[Peer],
        sockets: Container[Peer] = (),
        now: float,
    ) -> dict[int, Why]:
        """The connections that must go now. Of those with a request under way: see WHILE_BUSY."""
        self.guests = {number: self._guest(number, one, now) for number, one in seen.items()}
        quiet: dict[int, Guest] = {}
        out: dict[int, Why] = {}
        for number, guest in self.guests.items():
            traffic = seen[number].traffic
            if guest.peer in busy:
                if guest.peer in sockets and guest.says_too_much(traffic, now):
                    out[number] = Why.TALKATIVE
                elif guest.reads_nothing(traffic, self._limits, now):
                    out[number] = Why.UNREAD
                guest.served(traffic, now)
                continue
            if guest.peer in served:
                guest.served(traffic, now)
            else:
                guest.rested(traffic, now)
            quiet[number] = guest
            if why := guest.overdue(self._limits, now):
                out[number] = why
        self._shed(quiet, out)
        return out

    def _guest(self, number: int, one: Sighting, now: float) -> Guest:
        known = self.guests.get(number)
        return known if known is not None and known.peer == one.peer else Guest(one.peer, now)

    def _shed(self, quiet: Mapping[int, Guest], out: dict[int, Why]) -> None:
        """Where there are too many, the one that has been quiet for longest makes room."""
        limit = self._limits.per_address
        if limit is not None and len(self.guests) > limit:
            by_origin: dict[str, list[int]] = defaultdict(list)
            for number, guest in self.guests.items():
                by_origin[origin_of(guest.peer[0])].append(number)
            for numbers in by_origin.values():
                _make_room(numbers, limit, quiet, out, Why.ADDRESS_FULL)
        _make_room(self.guests, self._limits.total, quiet, out, Why.FULL)


def _make_room(
    numbers: Iterable[int], limit: int, quiet: Mapping[int, Guest], out: dict[int, Why], why: Why
) -> None:
    staying = [number for number in numbers if number not in out]
    excess = len(staying) - limit
    if excess > 0:
        can_go = sorted((n for n in staying if n in quiet), key=lambda n: quiet[n].moved_at)
        out.update(dict.fromkeys(can_go[:excess], why))
