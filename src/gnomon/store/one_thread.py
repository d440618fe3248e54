"""A thread that does what it is told, in order, while the event loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar

from gnomon.errors import StoreUnavailable

_Answer = TypeVar("_Answer")


class _Task(NamedTuple):
    work: Callable[[], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class OneThread:
    """A queue there and a callback back: two thirds of the price of an executor, which every verb pays."""

    def __init__(self, name: str) -> None:
        self._is_stopped = False
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        # A daemon: a program that forgets to close its store may still end.
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[], _Answer]) -> _Answer:
        """What `work` returns or raises. If the caller is cancelled, the work is done all the same."""
        if self._is_stopped:
            raise StoreUnavailable("The store has been closed.")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Answer] = loop.create_future()
        self._tasks.put(_Task(work, future, loop))
        return await future

    def stop(self) -> None:
        """After what was asked for before."""
        self._is_stopped = True
        self._tasks.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                answer, error = task.work(), None
            except BaseException as raised:  # It belongs to the one who asked.
                answer, error = None, raised
            with suppress(RuntimeError):  # The loop is closed: nobody waits for the answer.
                task.loop.call_soon_threadsafe(_settle, task.future, answer, error)


def _settle(future: asyncio.Future[Any], answer: object, error: BaseException | None) -> None:
    if future.done():
        return  # Cancelled: nobody waits for it any more.
    if error is None:
        future.set_result(answer)
    else:
        future.set_exception(error)
