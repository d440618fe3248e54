"""A handful of PostgreSQL connections, the one used last first.

Why not asyncpg's own pool: giving a connection back costs it a task and a turn of the event loop, a tenth of
a millisecond on every statement. Here it is an append to a list. Nothing is reset, since we set nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any


class Connections:
    """Opened when needed, at most `limit` at a time; a broken one is replaced by the next call."""

    def __init__(self, connect: Callable[[], Awaitable[Any]], *, limit: int) -> None:
        self._connect = connect
        self._turns = asyncio.Semaphore(limit)
        self._idle: list[Any] = []

    @asynccontextmanager
    async def one(self, *, breaks: tuple[type[Exception], ...]) -> AsyncIterator[Any]:
        """A connection for a while. It is not used again after an exception of `breaks` or a cancellation."""
        async with self._turns:
            connection = await self._take()
            try:
                yield connection
            except Exception as error:
                if isinstance(error, breaks):
                    connection.terminate()
                raise
            except BaseException:
                connection.terminate()  # Cancelled in the middle: who knows what is still on the wire.
                raise
            finally:
                if not connection.is_closed():
                    self._idle.append(connection)

    def drop_idle(self) -> None:
        """Where one connection broke, the others are likely dead too."""
        while self._idle:
            self._idle.pop().terminate()

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().close()

    async def _take(self) -> Any:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return await self._connect()
