"""A handful of PostgreSQL connections, the one used last first.

Why not asyncpg's own pool: giving a connection back costs it a task and a turn of the event loop, a tenth of
a millisecond on every statement. Here it is an append to a list. Nothing is reset, since we set nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any


class Connections:
    """Opened when needed, at most `limit` at a time; a broken one is replaced by the next call."""

    def __init__(self, connect: Callable[[], Awaitable[Any]], *, limit: int) -> None:
        self._connect = connect
        self._turns = asyncio.Semaphore(limit)
        self._idle: list[Any] = []

    async def take(self) -> Any:
        """A connection for a while; wait for one if all are out. Give it back."""
        await self._turns.acquire()
        try:
            while self._idle:
                connection = self._idle.pop()
                if not connection.is_closed():
                    return connection
            return await self._connect()
        except BaseException:
            self._turns.release()
            raise

    def give_back(
        self, connection: Any, *, after: BaseException | None, breaks: tuple[type[Exception], ...]
    ) -> None:
        """Not to be used again after an exception of `breaks` or a cancellation: the wire may be dirty."""
        if after is not None and (not isinstance(after, Exception) or isinstance(after, breaks)):
            connection.terminate()
        if not connection.is_closed():
            self._idle.append(connection)
        self._turns.release()

    def drop_idle(self) -> None:
        """Where one connection broke, the others are likely dead too."""
        while self._idle:
            self._idle.pop().terminate()

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().close()
