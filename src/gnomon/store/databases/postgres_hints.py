"""Hints over PostgreSQL: LISTEN and NOTIFY, each on a connection of its own that is remade when it breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any, Final

import asyncpg

from gnomon.store.databases import statements
from gnomon.store.databases.hints import LocalHints, OnHint, Topic
from gnomon.store.databases.postgres_connect import CONNECT_TIMEOUT, STATEMENT_TIMEOUT

# The first hint of a topic goes out at once. What follows within this time goes out as one, at its end.
QUIET = timedelta(milliseconds=5)
RETRY_MIN = timedelta(milliseconds=100)
RETRY_MAX = timedelta(seconds=5)
# A network can fall silent without a word. A listener that asks now and then finds out.
CHECK_EVERY = timedelta(seconds=30)
LAST_WORDS_TIMEOUT = timedelta(seconds=1)

# Whatever is wrong with the server or the way to it. Hints then stop for a while, and polling carries.
_TROUBLE: Final = (
    OSError,
    TimeoutError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)


class Outgoing:
    """Topics to be sent: each at once, but at most once in QUIET, and always once after the last `add`."""

    def __init__(self) -> None:
        self._waiting: set[Topic] = set()
        self._quiet: set[Topic] = set()
        self._is_ready = asyncio.Event()

    def add(self, topic: Topic) -> None:
        self._waiting.add(topic)
        if topic not in self._quiet:
            self._is_ready.set()

    async def take(self) -> Collection[Topic]:
        """What may go out now. Waits until there is something."""
        while True:
            await self._is_ready.wait()
            self._is_ready.clear()
            topics = self._waiting - self._quiet
            if topics:
                self._waiting -= topics
                self._quiet |= topics
                asyncio.get_running_loop().call_later(QUIET.total_seconds(), self._speak_again, topics)
                return topics

    def take_all(self) -> Collection[Topic]:
        topics, self._waiting = self._waiting, set()
        return topics

    def _speak_again(self, topics: Collection[Topic]) -> None:
        self._quiet.difference_update(topics)
        if self._waiting - self._quiet:
            self._is_ready.set()


class PostgresHints:
    """Connects when first needed: who only announces does not listen, and the other way round.

    Who listens here is told at once, and not again when our own words come back: a second look for what was
    found already stands in the way of the next.
    """

    def __init__(self, dsn: str) -> None:
        self._connect: Callable[[], Awaitable[Any]] = partial(
            asyncpg.connect,
            dsn,
            command_timeout=STATEMENT_TIMEOUT.total_seconds(),
            timeout=CONNECT_TIMEOUT.total_seconds(),
            target_session_attrs="read-write",
        )
        self._hint_text, _ = statements.numbered(statements.load("postgres")["hint"])
        self._channel_text = statements.load("postgres")["hints_channel"]
        self._outgoing = Outgoing()
        self._sender: Any = None
        self._own_pid: int | None = None
        self._here = LocalHints()
        self._sending: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._is_closed = False

    def announce(self, topic: Topic) -> None:
        self._here.announce(topic)
        self._outgoing.add(topic)
        if self._sending is None and not self._is_closed:
            self._sending = asyncio.create_task(self._send(), name="gnomon-hints-send")

    def listen(self, on_hint: OnHint) -> Callable[[], None]:
        if self._listening is None and not self._is_closed:
            self._listening = asyncio.create_task(self._listen(), name="gnomon-hints-listen")
        return self._here.listen(on_hint)

    async def close(self) -> None:
        self._is_closed = True
        tasks = [task for task in (self._sending, self._listening) if task is not None]
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        if left := self._outgoing.take_all():
            with suppress(*_TROUBLE):
                async with asyncio.timeout(LAST_WORDS_TIMEOUT.total_seconds()):
                    await self._notify(left)
        self._drop_sender()
        for end in ends:
            if isinstance(end, Exception):  # A bug of ours. Cancellation is none, and trouble was caught.
                raise end

    async def _send(self) -> None:
        pause = RETRY_MIN
        while True:
            topics = await self._outgoing.take()
            try:
                await self._notify(topics)
                pause = RETRY_MIN
            except _TROUBLE:
                self._put_back(topics)
                self._drop_sender()
                await asyncio.sleep(pause.total_seconds())
                pause = min(pause * 2, RETRY_MAX)
            except asyncio.CancelledError:
                self._put_back(topics)
                raise

    async def _notify(self, topics: Collection[Topic]) -> None:
        if self._sender is None or self._sender.is_closed():
            self._sender = await self._connect()
            self._own_pid = self._sender.get_server_pid()
        await self._sender.fetch(self._hint_text, list(topics))

    def _put_back(self, topics: Collection[Topic]) -> None:
        for topic in topics:
            self._outgoing.add(topic)

    def _drop_sender(self) -> None:
        if self._sender is not None:
            self._sender.terminate()
            self._sender = None

    async def _listen(self) -> None:
        pause = RETRY_MIN
        while True:
            with suppress(*_TROUBLE):
                connection = await self._connect()
                try:
                    is_over = await self._subscribe(connection)
                    pause = RETRY_MIN
                    await _until(is_over, connection)
                finally:
                    connection.terminate()
            await asyncio.sleep(pause.total_seconds())
            pause = min(pause * 2, RETRY_MAX)

    async def _subscribe(self, connection: Any) -> asyncio.Event:
        """Listen, then tell everything: what was said before cannot be heard any more."""
        is_over = asyncio.Event()
        connection.add_termination_listener(lambda _: is_over.set())
        [row] = await connection.fetch(self._channel_text)
        await connection.add_listener(row["channel"], self._heard)
        for topic in Topic:
            self._here.announce(topic)
        return is_over

    def _heard(self, _connection: object, pid: int, _channel: str, payload: str) -> None:
        if pid == self._own_pid:
            return
        with suppress(ValueError):  # A topic of a later release.
            self._here.announce(Topic(payload))


async def _until(is_over: asyncio.Event, connection: Any) -> None:
    """Until the connection ends, of itself or because it does not answer any more."""
    while not is_over.is_set():
        try:
            async with asyncio.timeout(CHECK_EVERY.total_seconds()):
                await is_over.wait()
        except TimeoutError:
            await connection.fetch("SELECT 1")
