"""The handlers of one worker, by kind."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from types import MappingProxyType

from gnomon.core.jobs.job import Definition
from gnomon.handlers.base import Closing, Handler, NotHere, Tidying

_log = logging.getLogger(__name__)


class Registry:
    """Which kinds run here, and what runs each. Does not change once it is made."""

    __slots__ = ("_handlers",)

    def __init__(self, handlers: Iterable[Handler]) -> None:
        by_kind: dict[str, Handler] = {}
        for handler in handlers:
            kind = handler.kind.lower()
            assert kind not in by_kind, f"Two handlers for the kind {kind!r}."
            by_kind[kind] = handler
        self._handlers = MappingProxyType(by_kind)

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(self._handlers)

    def handler(self, kind: str) -> Handler:
        """What runs executions of this kind. Raises NotHere if nothing here does."""
        try:
            return self._handlers[kind]
        except KeyError:
            known = ", ".join(sorted(self._handlers)) or "none"
            raise NotHere(f"Nothing here runs the kind {kind!r}. Known kinds: {known}.") from None

    def check(self, definition: Definition) -> None:
        """Called when a job is saved. Raises InvalidInput that names the field and what is wrong with it.

        The payload of a kind that is unknown here is not looked at. core/jobs/kinds.py says which may be
        saved.
        """
        handler = self._handlers.get(definition.kind)
        if handler is not None:
            handler.check(definition.payload.value)

    async def tidy(self) -> None:
        """Remove what dead processes left on this machine. What fails is told, and tried again next time."""
        for handler in self._handlers.values():
            if isinstance(handler, Tidying):
                try:
                    await handler.tidy()
                except Exception:  # A plugin may raise anything.
                    _log.exception("the handler of the kind %r could not tidy up", handler.kind)

    async def aclose(self) -> None:
        """Give back what the handlers hold. One that fails to does not keep the others from it."""
        failures = []
        for handler in self._handlers.values():
            if isinstance(handler, Closing):
                try:
                    await handler.aclose()
                except Exception as error:  # A plugin may raise anything.
                    failures.append(error)
        if failures:
            raise ExceptionGroup("Handlers that failed to close.", failures)
