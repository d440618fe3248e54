"""The connections of an attack: opened, kept busy, and watched for their end."""

from __future__ import annotations

import re
import select
import socket
from collections import Counter
from contextlib import suppress
from time import monotonic

from tests.siege.attacks import Attack

# Opened in one go; between two of these, those that are open are looked at.
BATCH = 250
_STATUS = re.compile(rb"HTTP/1\.1 ([0-9]{3})")


class Crowd:
    """`answers` counts the statuses that came back; `late` those that were open for longer than allowed."""

    def __init__(self, port: int, attack: Attack, *, grace_seconds: float) -> None:
        self._port = port
        self._attack = attack
        self._grace = grace_seconds
        self._open: dict[int, tuple[socket.socket, float]] = {}
        self._poll = select.poll()
        self.answers: Counter[int] = Counter()
        self.streaming: set[int] = set()  # Of those that ask for a stream, the ones that have one.
        self.opened = 0
        self.closed = 0
        self.late = 0

    @property
    def held(self) -> int:
        return len(self._open)

    def open_all(self) -> None:
        for number in range(self._attack.count):
            self._open_one(f"127.0.1.{1 + number % self._attack.addresses}")
            if number % BATCH == BATCH - 1:
                self.look()

    def _open_one(self, address: str) -> None:
        one = socket.socket()
        one.settimeout(5)
        one.bind((address, 0))
        one.connect(("127.0.0.1", self._port))
        one.sendall(self._attack.opening)
        one.setblocking(False)
        self._open[one.fileno()] = (one, monotonic())
        self._poll.register(one, select.POLLIN | select.POLLHUP)
        self.opened += 1

    def look(self) -> None:
        """Take what has come, and let go of those that were closed."""
        for descriptor, _ in self._poll.poll(0):
            one, since = self._open[descriptor]
            try:
                came = one.recv(65_536)
            except OSError:
                came = b""
            if found := _STATUS.match(came):
                self.answers[int(found[1])] += 1
                if found[1] == b"200" and self._attack.within is None:
                    self.streaming.add(descriptor)
            if not came:
                self._let_go(descriptor)
                self.closed += 1
                self.late += self._is_late(since)

    def drip(self) -> None:
        if self._attack.drip:
            for one, _ in self._open.values():
                with suppress(OSError):
                    one.send(self._attack.drip)

    def leave(self) -> None:
        """Those that should have been closed by now are late for good."""
        for descriptor, (_, since) in list(self._open.items()):
            self.late += self._is_late(since)
            self._let_go(descriptor)

    def _is_late(self, since: float) -> bool:
        within = self._attack.within
        return within is not None and monotonic() - since > within.total_seconds() + self._grace

    def _let_go(self, descriptor: int) -> None:
        one, _ = self._open.pop(descriptor)
        self.streaming.discard(descriptor)
        self._poll.unregister(descriptor)
        one.close()
