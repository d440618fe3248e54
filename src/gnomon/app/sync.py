"""For code without an event loop: one function that runs anything awaitable and returns its answer.

There are no twins of the async methods. `app.sync(report.enqueue(day=today))` does from a thread what
`await report.enqueue(day=today)` does in a coroutine.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from gnomon.errors import InvalidInput

Answer = TypeVar("Answer")


class Sync:
    """Uses the loop that runs the app in this process, if there is one; else a loop in a thread of its own.

    `loop_of_app` says which loop that is. `leave` is awaited in our own loop before that one ends.
    """

    def __init__(
        self,
        loop_of_app: Callable[[], asyncio.AbstractEventLoop | None],
        leave: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self._loop_of_app = loop_of_app
        self._leave = leave
        self._lock = threading.Lock()
        self._own: asyncio.AbstractEventLoop | None = None
        self._process_id = os.getpid()

    def __call__(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """What `work` returns or raises. Not for a thread that runs an event loop: there, await."""
        if _runs_a_loop():
            work.close()
            raise InvalidInput("sync", "this thread runs an event loop, which would stand still. Use await.")
        loop = self._loop_of_app() or self._own_loop()
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    def close(self) -> None:
        """End the thread, if there is one. A later call starts another."""
        with self._lock:
            self._forget_if_forked()
            loop, self._own = self._own, None
        if loop is not None and loop.is_running():
            asyncio.run_coroutine_threadsafe(self._leave(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            self._forget_if_forked()
            if self._own is None:
                self._own = asyncio.new_event_loop()
                # A daemon: a program that forgets to close may still end.
                threading.Thread(target=_run, args=(self._own,), name="gnomon-sync", daemon=True).start()
                atexit.register(self.close)
            return self._own

    def _forget_if_forked(self) -> None:
        """A fork has a copy of the loop without the thread that runs it: who asked it would wait for ever."""
        if self._process_id != os.getpid():
            self._process_id, self._own = os.getpid(), None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _runs_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
