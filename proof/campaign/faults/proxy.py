"""A wire between processes and PostgreSQL that can be cut where it hurts most.

It understands as much of the protocol as it needs to know which statement an answer belongs to. So it can
let a statement commit and then cut the connection before the client hears of it: the outcome that nobody
can know.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

CHUNK_BYTES = 65536
ENCRYPTION_REQUEST_BYTES = 8
_LENGTH_BYTES = 4
_PARSE, _BIND, _QUERY = b"P", b"B", b"Q"  # From the client: say what to run, and run it.
_ERROR, _READY = b"E", b"Z"  # From the server: it failed; what was asked for is done.
_NO_TRANSACTION = b"I"  # At the end of READY: what was done is committed.
ANY = "any"
# What the statements of the store are for, by words that only they have.
_OPS = {
    "INSERT INTO leases": "claim",
    "leases.claim = change.claim": "complete",
    "INSERT INTO occurrences": "fire",
    "INSERT INTO idempotency_keys": "submit",
}


def op_of(statement: str) -> str:
    return next((op for words, op in _OPS.items() if words in statement), ANY)


class Mode(StrEnum):
    FORWARD = "forward"
    REFUSE = "refuse"  # New connections are closed at once, and old ones too.
    HOLD = "hold"  # A black hole: bytes are taken and not delivered, and nobody is told.


@dataclass
class Faults:
    """What is wrong with the wire at the moment. Changed while it is in use."""

    mode: Mode = Mode.FORWARD
    delay: timedelta = timedelta(0)
    lose: str | None = None  # The next answer to this kind of statement is swallowed, after the commit.
    lost: int = 0  # How many were.
    told: Callable[[str], None] = lambda op: None  # Of each that was.
    lifted: asyncio.Event = field(default_factory=asyncio.Event)

    def hold(self) -> None:
        self.mode = Mode.HOLD
        self.lifted.clear()

    def forward(self) -> None:
        """What was held is delivered late, as TCP would."""
        self.mode = Mode.FORWARD
        self.lifted.set()

    @property
    def is_losing(self) -> bool:
        """Whether there is an answer yet to be lost."""
        return self.lose is not None

    def loses(self, op: str) -> bool:
        if self.lose not in (op, ANY):
            return False
        self.lose = None
        self.lost += 1
        self.told(op)
        return True


class Frames:
    """Cuts a stream into messages. The first message of a client has no type."""

    def __init__(self, *, has_startup: bool) -> None:
        self.expects_byte = False  # The answer to a request for encryption is a single letter.
        self._buffer = b""
        self._is_startup = has_startup

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The type and the bytes of each whole message."""
        self._buffer += data
        while (message := self._next()) is not None:
            yield message

    def _next(self) -> tuple[bytes, bytes] | None:
        if self.expects_byte and self._buffer:
            self.expects_byte = False
            letter, self._buffer = self._buffer[:1], self._buffer[1:]
            return b"", letter
        type_bytes = 0 if self._is_startup else 1
        if len(self._buffer) < type_bytes + _LENGTH_BYTES:
            return None
        length = int.from_bytes(self._buffer[type_bytes : type_bytes + _LENGTH_BYTES], "big")
        size = type_bytes + length
        if len(self._buffer) < size:
            return None
        message, self._buffer = self._buffer[:size], self._buffer[size:]
        kind = message[:1] if type_bytes else b""
        # A client may ask for encryption first; then its startup message is still to come.
        self._is_startup = self._is_startup and length == ENCRYPTION_REQUEST_BYTES
        return kind, message


@dataclass
class _Wire:
    """One connection through the proxy. `op` is what runs, in this transaction or alone."""

    faults: Faults
    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    op: str | None = None
    ops: dict[bytes, str] = field(default_factory=dict)
    answers: Frames = field(default_factory=lambda: Frames(has_startup=False))
    ways: Sequence[asyncio.Task[None]] = ()

    async def up(self, reader: asyncio.StreamReader) -> None:
        frames = Frames(has_startup=True)
        while data := await reader.read(CHUNK_BYTES):
            for kind, message in frames.feed(data):
                if not kind and len(message) == ENCRYPTION_REQUEST_BYTES:
                    self.answers.expects_byte = True
                self._look_at(kind, message)
                await self._deliver(message, self.server)

    def _look_at(self, kind: bytes, message: bytes) -> None:
        """Prepared statements have names, so what is run is known from when it was prepared."""
        if kind == _PARSE:
            name, _, rest = message[1 + _LENGTH_BYTES :].partition(b"\0")
            self.ops[name] = op_of(rest.partition(b"\0")[0].decode(errors="replace"))
        elif kind == _BIND:
            _, name, _ = message[1 + _LENGTH_BYTES :].split(b"\0", 2)
            op = self.ops.get(name, ANY)
            self.op = op if self.op in (None, ANY) else self.op
        elif kind == _QUERY:
            self.op = self.op or ANY

    async def down(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(CHUNK_BYTES):
            for kind, message in self.answers.feed(data):
                if kind == _ERROR:
                    self.op = None
                elif kind == _READY and message[-1:] == _NO_TRANSACTION:
                    op, self.op = self.op, None
                    if op is not None and self.faults.loses(op):
                        return
                await self._deliver(message, self.client)

    async def _deliver(self, message: bytes, to: asyncio.StreamWriter) -> None:
        if self.faults.delay:
            await asyncio.sleep(self.faults.delay.total_seconds())
        if self.faults.mode is Mode.HOLD:
            await self.faults.lifted.wait()
        to.write(message)
        await to.drain()

    def cut(self) -> None:
        """With a reset, not with a good-bye."""
        for writer in (self.client, self.server):
            writer.transport.abort()
        for way in self.ways:
            way.cancel()


@dataclass
class PgProxy:
    """Forwards one port of 127.0.0.1 to a server. Each process of a campaign has its own."""

    host: str
    port: int
    faults: Faults = field(default_factory=Faults)
    listens_at: int = 0
    _wires: dict[asyncio.Task[None], _Wire] = field(default_factory=dict)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[PgProxy]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", self.listens_at)
        self.listens_at = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            self.cut_all()
            await asyncio.gather(*self._wires, return_exceptions=True)

    def cut_all(self) -> None:
        for wire in list(self._wires.values()):
            wire.cut()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.faults.mode is Mode.HOLD:
            await self.faults.lifted.wait()
        if self.faults.mode is Mode.REFUSE:
            writer.transport.abort()
            return
        try:
            answers, server = await asyncio.open_connection(self.host, self.port)
        except OSError:  # The server is down: so are we.
            writer.transport.abort()
            return
        wire = _Wire(self.faults, writer, server)
        task = asyncio.current_task()
        assert task is not None
        self._wires[task] = wire
        wire.ways = [asyncio.create_task(wire.up(reader)), asyncio.create_task(wire.down(answers))]
        try:
            await asyncio.wait(wire.ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            wire.cut()
            await asyncio.gather(*wire.ways, return_exceptions=True)
            self._wires.pop(task, None)
