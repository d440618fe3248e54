"""Waiting for the end of an execution: look, pause, look again, or be told early."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from gnomon.core.executions.execution import ExecutionId, WorkerId
from gnomon.engine.service import Wakeup
from gnomon.store.databases.hints import Topic

PAUSE_MIN = timedelta(milliseconds=20)
PAUSE_MAX = timedelta(seconds=1)


class Ends:
    """Wakes those who wait for an execution when this process learns of its end. A hint, as always."""

    def __init__(self) -> None:
        self._waiting: dict[ExecutionId, list[Wakeup]] = {}

    def tell(self, execution_id: ExecutionId) -> None:
        """To be called on the thread of the loop."""
        for wakeup in self._waiting.get(execution_id, ()):
            wakeup.set()

    @contextmanager
    def listening(self, execution_id: ExecutionId) -> Iterator[Wakeup]:
        wakeup = Wakeup()
        waiting = self._waiting.setdefault(execution_id, [])
        waiting.append(wakeup)
        try:
            yield wakeup
        finally:
            waiting.remove(wakeup)
            if not waiting:
                self._waiting.pop(execution_id, None)


class Rooms:
    """Wakes the claims of a worker when this process learns that it has room for more. A hint, as always."""

    def __init__(self) -> None:
        self._waiting: dict[WorkerId, list[Wakeup]] = {}

    def tell(self, worker: WorkerId) -> None:
        """To be called on the thread of the loop."""
        for wakeup in self._waiting.get(worker, ()):
            wakeup.set()

    @contextmanager
    def waking(self, wakeup: Wakeup, worker: WorkerId) -> Iterator[None]:
        waiting = self._waiting.setdefault(worker, [])
        waiting.append(wakeup)
        try:
            yield
        finally:
            waiting.remove(wakeup)
            if not waiting:
                self._waiting.pop(worker, None)


def pauses() -> Iterator[timedelta]:
    """How long to wait before each look: short at first, since most runs are, then longer."""
    pause = PAUSE_MIN
    while True:
        yield pause
        pause = min(pause * 1.5, PAUSE_MAX)


class Bells:
    """Wakes those who wait for something that a hint may announce. A hint, as always."""

    def __init__(self) -> None:
        self._waiting: dict[Topic, list[Wakeup]] = {}

    def ring(self, topic: Topic) -> None:
        """To be called on the thread of the loop."""
        for wakeup in self._waiting.get(topic, ()):
            wakeup.set()

    @contextmanager
    def listening(self, *topics: Topic) -> Iterator[Wakeup]:
        wakeup = Wakeup()
        for topic in topics:
            self._waiting.setdefault(topic, []).append(wakeup)
        try:
            yield wakeup
        finally:
            for topic in topics:
                self._waiting[topic].remove(wakeup)
