"""Hints: "there may be something for you", told early. Nothing rests on them; polling is always on.

A hint says what it is about and no more, so a lost, late, doubled or made-up one costs one look at most.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol


class Topic(StrEnum):
    """What may be new. A reader ignores those it does not know: a later release may have more."""

    WORK = "work"  # Something waits for a worker.
    LATER = "later"  # Something was put off, and may be due earlier than all that is known.
    SCHEDULE = "schedule"  # A job was made or changed, and may be due earlier than a scheduler thinks.
    CANCEL = "cancel"  # Something that runs was asked to stop.


OnHint = Callable[[Topic], None]


class Hints(Protocol):
    """To be used on the thread of the event loop, and closed."""

    def announce(self, topic: Topic) -> None:
        """Tell all who listen, here and elsewhere, soon. After the commit, never before it.

        Returns at once and never raises for trouble with the database. A flood of one topic becomes a few
        hints, of which the last one comes after the last call.
        """

    def listen(self, on_hint: OnHint) -> Callable[[], None]:
        """Call `on_hint` for each hint, on the loop, until the function that is returned is called.

        It is also called for every topic when a connection was (re)made: hints may have been missed.
        """

    async def close(self) -> None:
        """Send what is left to be sent, as far as that is quick."""


class Listeners:
    """Who wants to know. Each is called from the loop by itself: one that fails hurts nobody else."""

    def __init__(self) -> None:
        self._listeners: dict[object, OnHint] = {}

    def add(self, on_hint: OnHint) -> Callable[[], None]:
        key = object()  # One function may listen twice.
        self._listeners[key] = on_hint

        def leave() -> None:
            self._listeners.pop(key, None)

        return leave

    def tell(self, topic: Topic) -> None:
        loop = asyncio.get_running_loop()
        for on_hint in self._listeners.values():
            loop.call_soon(on_hint, topic)


class LocalHints:
    """Within one process: all that SQLite needs, and all that a transaction pooler leaves us."""

    def __init__(self) -> None:
        self._listeners = Listeners()
        self._announced: set[Topic] = set()

    def announce(self, topic: Topic) -> None:
        if topic not in self._announced:
            self._announced.add(topic)
            asyncio.get_running_loop().call_soon(self._tell, topic)

    def listen(self, on_hint: OnHint) -> Callable[[], None]:
        return self._listeners.add(on_hint)

    async def close(self) -> None:
        """Nothing is on its way."""

    def _tell(self, topic: Topic) -> None:
        self._announced.discard(topic)
        self._listeners.tell(topic)
