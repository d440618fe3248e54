"""Looks at all connections about once a second, and closes those that must go."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from http import HTTPStatus

import msgspec

from gnomon.api.serving.presence import Peer, Presence
from gnomon.app.door import sockets
from gnomon.app.door.sockets import Door
from gnomon.app.door.watch import WHILE_BUSY, Guest, Limits, Sighting, Traffic, Watch, Why
from gnomon.errors import GnomonError, RequestTimeout, TooManyConnections

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 1.0
PAUSE_SECONDS_MIN = 0.1  # While there are many connections, or with a deadline of a second.
# So that a look at thousands of connections does not hold the loop.
SLICE = 200


class Doorman:
    """`speaks_plainly`: without TLS, a sentence can be sent to a client before its connection is closed."""

    def __init__(self, presence: Presence, limits: Limits, *, port: int, speaks_plainly: bool) -> None:
        self._presence = presence
        self._limits = limits
        self._port = port
        self._speaks_plainly = speaks_plainly
        self._watch = Watch(limits)
        shortest = min(limits.first_byte, limits.head, limits.idle)
        self._pause = max(PAUSE_SECONDS_MIN, min(PAUSE_SECONDS, shortest / 10))
        # Sockets that were looked at before. None: not a connection of the server.
        self._peers: dict[int, Peer | None] = {}

    async def run(self) -> None:
        while True:
            try:
                pause = await self.step()
            except Exception:  # No descriptor is left for a look, or a bug. The next look comes all the same.
                logger.exception("could not look at the connections")
                pause = PAUSE_SECONDS
            await asyncio.sleep(pause)

    async def step(self) -> float:
        """Returns how long to pause."""
        doors, seen = await self._seen()
        now = asyncio.get_running_loop().time()
        presence = self._presence
        served, talking = presence.take_served(), presence.sockets
        going = self._watch.look(seen, busy=presence.busy, served=served, sockets=talking, now=now)
        for place, (number, why) in enumerate(going.items()):
            if place % SLICE == SLICE - 1:
                await asyncio.sleep(0)
            guest = self._watch.guests[number]
            # A request may have come at the last moment.
            if guest.peer not in presence.busy or why in WHILE_BUSY:
                sockets.close(doors[number], self._farewell(guest, why))
        if going:
            counts = Counter(going.values())
            logger.debug("closed connections: %s", ", ".join(f"{n} ({why})" for why, n in counts.items()))
        is_pressed = len(seen) > self._limits.total // 2
        return PAUSE_SECONDS_MIN if is_pressed else self._pause

    async def _seen(self) -> tuple[dict[int, Door], dict[int, Sighting]]:
        doors: dict[int, Door] = {}
        seen: dict[int, Sighting] = {}
        peers: dict[int, Peer | None] = {}
        for place, descriptor in enumerate(sockets.open_descriptors()):
            if place % SLICE == SLICE - 1:
                await asyncio.sleep(0)
            door = sockets.socket_at(descriptor)
            if door is None:
                continue
            if door.inode not in self._peers:
                self._peers[door.inode] = sockets.peer_at(descriptor, port=self._port)
            peer = peers[door.inode] = self._peers[door.inode]
            if peer is not None:
                doors[door.inode] = door
                seen[door.inode] = Sighting(peer, sockets.traffic_at(descriptor) or Traffic(0, 0))
        self._peers = peers
        return doors, seen

    def _farewell(self, guest: Guest, why: Why) -> bytes:
        """Only to a client that waits for the answer to its first request: no answer is being sent there."""
        if not self._speaks_plainly or guest.was_served:
            return b""
        match why:
            case Why.SLOW_HEAD:
                return _answer(RequestTimeout("head", self._limits.head))
            case Why.ADDRESS_FULL:
                assert self._limits.per_address is not None
                return _answer(TooManyConnections(self._limits.per_address, address=guest.peer[0]))
            case Why.FULL:
                return _answer(TooManyConnections(self._limits.total))
            case Why.SILENT | Why.IDLE | Why.TALKATIVE | Why.UNREAD:
                return b""


def _answer(error: GnomonError) -> bytes:
    """The envelope of an error, from outside the application."""
    told = {"code": error.code, "message": str(error), "details": error.details, "request_id": "none"}
    body = msgspec.json.encode({"error": told})
    status = HTTPStatus(error.http_status)
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body
