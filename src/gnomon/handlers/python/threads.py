"""Threads for functions that wait, and how such a function is brought to its end.

A thread cannot be killed. It can be asked, by `context.cancelled`; then told, by an exception that is raised
inside it at its next step in Python; and a thread that sits in a call that never returns is left behind,
counted, and comes back to the pool if it ever wakes up.
"""

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from queue import SimpleQueue
from typing import Any

from gnomon.handlers.base import JobFailed, Stopped

IDLE_THREADS_MAX = 32

_set_async_exc = ctypes.pythonapi.PyThreadState_SetAsyncExc
_set_async_exc.argtypes = (ctypes.c_ulong, ctypes.py_object)
_set_async_exc.restype = ctypes.c_int
# The same function with NULL for the exception: takes back one that has not been raised yet. It keeps the
# interpreter's lock like the one above, so nothing of ours runs in between.
_clear_async_exc = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)


class ThreadBody:
    """One call in a thread. `stop` raises Stopped inside the call, once, and never in what runs after it.

    There is one permit to send Stopped, and taking it is atomic. `stop` takes it to send; the thread takes it
    when the call is over. If the thread finds it gone, it waits until Stopped was sent and takes it back, or
    swallows it. A lock would not do: Stopped could arrive between its being taken and its being known.
    """

    __slots__ = ("_call", "_context", "_ident", "_loop", "_permit", "_was_sent", "done", "error", "result")

    def __init__(self, call: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> None:
        self._call = call
        self._context = contextvars.copy_context()
        self._loop = loop
        self._ident: int | None = None
        self._permit = ["to send Stopped"]
        self._was_sent = False
        self.done: asyncio.Future[None] = loop.create_future()
        self.result: Any = None
        self.error: BaseException | None = None

    def stop(self) -> None:
        """Not called from the thread itself."""
        try:
            self._permit.pop()
        except IndexError:
            return
        if self._ident is not None:
            _set_async_exc(self._ident, Stopped)
        self._was_sent = True

    def run(self) -> None:
        """Called in the thread. Does not raise."""
        self._ident = threading.get_ident()
        try:
            if self._permit:
                self._perform()
            else:
                self.error = Stopped()
        except Stopped as stopped:  # It came while the outcome was put away.
            self.error = stopped
        try:  # noqa: SIM105 - code of `suppress` would run when Stopped may still come.
            self._close()
        except Stopped:  # It came late, and comes once at the most. There is nothing left to take back.
            pass

    def tell(self) -> None:
        """Wake up who waits for the call, if anybody still does."""
        with suppress(RuntimeError):  # The loop is gone, and so is who waited.
            self._loop.call_soon_threadsafe(_settle, self.done)

    def _perform(self) -> None:
        try:
            self.result = self._context.run(self._call)
        except BaseException as error:  # User code may raise anything: that is an outcome.
            self.error = error

    def _close(self) -> None:
        try:
            self._permit.pop()
        except IndexError:
            while not self._was_sent:
                time.sleep(0)
            _clear_async_exc(threading.get_ident(), None)


class Threads:
    """As many threads as are needed at once. They are daemons: one that hangs does not keep the worker."""

    def __init__(self, *, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._idle: deque[SimpleQueue[ThreadBody | None]] = deque()
        self._abandoned: set[ThreadBody] = set()
        self._closed = False
        self._generation = GENERATION.number

    @property
    def abandoned(self) -> int:
        """Threads that were left behind because their call did not end when it was told to."""
        return len(self._abandoned)

    async def run(self, call: Callable[[], Any], *, grace: timedelta) -> Any:
        """The result of the call. When cancelled: ask, after half the grace tell, after all of it leave."""
        body = ThreadBody(call, asyncio.get_running_loop())
        self._start(body)
        try:
            await asyncio.shield(body.done)
        except asyncio.CancelledError:
            await self._end(body, grace.total_seconds())
            raise
        match body.error:
            case None:
                return body.result
            case StopIteration() as error:  # Means something to a coroutine that the call did not mean.
                raise JobFailed(str(error), kind="StopIteration") from error
            case Exception() | Stopped() as error:
                raise error
            case error:  # SystemExit and its like would end the worker, CancelledError would look like ours.
                raise JobFailed(str(error), kind=type(error).__name__) from error

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, deque()
        for inbox in idle:
            inbox.put(None)

    async def _end(self, body: ThreadBody, grace_seconds: float) -> None:
        try:
            await asyncio.wait([body.done], timeout=grace_seconds / 2)
            body.stop()
            await asyncio.wait([body.done], timeout=grace_seconds / 2)
        finally:
            if not body.done.done():
                body.stop()
                self._abandoned.add(body)
                body.done.add_done_callback(lambda _: self._abandoned.discard(body))

    def _start(self, body: ThreadBody) -> None:
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = SimpleQueue()
            threading.Thread(target=self._work, args=(inbox,), name=self._name, daemon=True).start()
        inbox.put(body)

    def _work(self, inbox: SimpleQueue[ThreadBody | None]) -> None:
        while (body := inbox.get()) is not None:
            body.run()
            end_if_forked(self._generation)
            # Idle before the news: who starts the next call at once finds this thread.
            stays = self._rest(inbox)
            body.tell()
            del body
            if not stays:
                return

    def _rest(self, inbox: SimpleQueue[ThreadBody | None]) -> bool:
        with self._lock:
            stays = not self._closed and len(self._idle) < IDLE_THREADS_MAX
            if stays:
                self._idle.append(inbox)
            return stays


def _settle(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


class Generation:
    """How many forks lie between this process and its first ancestor in Python.

    Counted when it happens: to ask the kernel for the process id takes longer than many a function.
    """

    def __init__(self) -> None:
        self.number = 0
        os.register_at_fork(after_in_child=self._count)

    def _count(self) -> None:
        self.number += 1


GENERATION = Generation()


def end_if_forked(generation: int) -> None:
    """A function that forks comes back twice. Its child must not go on as a second worker."""
    if GENERATION.number != generation:
        os._exit(0)
