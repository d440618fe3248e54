"""A thread that does what it is told, in order, while the event loop goes on; and when to do without it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, Protocol, TypeVar

from gnomon.errors import StoreUnavailable

_Answer = TypeVar("_Answer")

# A hop to another thread and back takes 0.2 to 0.5 ms; a write on a good disk 0.5 to 1.5 ms. Above this, the
# loop has better things to do meanwhile.
HERE_SECONDS_MAX = 0.003
# What a row costs wherever it is written: no sign of a slow disk, and a hop does not make it cheaper.
ROW_SECONDS = 0.000_010


class _Task(NamedTuple):
    work: Callable[[], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Pace:
    """How long the work takes of late, in seconds: a moving average over some ten pieces."""

    WEIGHT = 0.1

    def __init__(self) -> None:
        self.seconds = 0.0

    def note(self, seconds: float) -> None:
        self.seconds += (seconds - self.seconds) * self.WEIGHT


class Hands(Protocol):
    """Who does the work of one connection, a piece at a time and in order."""

    async def run(self, work: Callable[[], _Answer]) -> _Answer:
        """What `work` returns or raises."""

    async def run_here_if_quick(self, work: Callable[[], _Answer], rows: int = 0) -> _Answer: ...

    def stop(self) -> None: ...


class Here:
    """The caller's own thread, always: for a loop whose time is not real, and which must not be left."""

    def __init__(self, name: str) -> None:
        """It needs no name."""

    async def run(self, work: Callable[[], _Answer]) -> _Answer:
        return work()

    async def run_here_if_quick(self, work: Callable[[], _Answer], rows: int = 0) -> _Answer:
        return work()

    def stop(self) -> None:
        """Nothing goes on anywhere else."""


class OneThread:
    """A queue there and a callback back: two thirds of the price of an executor, which every verb pays."""

    def __init__(self, name: str) -> None:
        self._is_stopped = False
        # Each written by one thread only: the loop's, and ours.
        self._asked = 0
        self._done = 0
        self.pace = Pace()
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
        self._asked += 1
        self._tasks.put(_Task(work, future, loop))
        return await future

    async def run_here_if_quick(self, work: Callable[[], _Answer], rows: int = 0) -> _Answer:
        """On the caller's own thread, if work of late was quick for its `rows` and none is under way.

        A disk that turns slow shows in the pace after one bad stall or a few slow writes, and then the loop
        is left alone until the disk is quick again.
        """
        loop = asyncio.get_running_loop()

        def timed() -> _Answer:
            started, touched = loop.time(), rows
            try:
                answer = work()
                if isinstance(answer, list):
                    touched = max(rows, len(answer))
                return answer
            finally:
                self.pace.note(max(0.0, loop.time() - started - touched * ROW_SECONDS))

        is_busy = self._asked > self._done  # Perhaps for a caller who was cancelled and no longer waits.
        if self._is_stopped or is_busy or self.pace.seconds > HERE_SECONDS_MAX:
            return await self.run(timed)
        return timed()

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
            self._done += 1
            with suppress(RuntimeError):  # The loop is closed: nobody waits for the answer.
                task.loop.call_soon_threadsafe(_settle, task.future, answer, error)


def _settle(future: asyncio.Future[Any], answer: object, error: BaseException | None) -> None:
    if future.done():
        return  # Cancelled: nobody waits for it any more.
    if error is None:
        future.set_result(answer)
    else:
        future.set_exception(error)
