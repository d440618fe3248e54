"""Finds the handlers that are installed: each is an entry point in the group `gnomon.handlers`.

The name of an entry point is the kind it runs. It names a factory, which is given the HandlerSettings and
returns a Handler. A handler that cannot be used is told, by distribution and name, and left out; it does not
take the others down. One that `handlers.enabled` leaves out is not even made.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from gnomon.core.jobs.kinds import Kinds, kinds_of
from gnomon.errors import HandlerBroken
from gnomon.handlers.base import Handler
from gnomon.handlers.registry import Registry
from gnomon.settings import HandlerSettings

GROUP = "gnomon.handlers"
OURS = "gnomon"

Factory = Callable[[HandlerSettings], Handler]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Discovered:
    registry: Registry
    broken: tuple[HandlerBroken, ...]


def discover(
    settings: HandlerSettings,
    *,
    found: Iterable[EntryPoint] | None = None,
    given: Mapping[str, Factory] | None = None,
) -> Discovered:
    """Every installed handler that is on. `given` are factories that a program brings; they win by kind."""
    given = given or {}
    found = list(entry_points(group=GROUP) if found is None else found)
    enabled = settings.enabled
    if enabled is None:
        enabled = kinds_of([*given, *(entry_point.name for entry_point in found)])
    handlers: dict[str, Handler] = {
        kind: factory(settings) for kind, factory in given.items() if kind in enabled
    }
    owners = dict.fromkeys(handlers, "this program")
    broken = []
    for entry_point in _ours_first(found):
        if entry_point.name in given or entry_point.name.lower() not in enabled:
            continue
        try:
            handler = _made(entry_point, settings, owners)
        except HandlerBroken as error:
            _log.error("%s", error, exc_info=error.__cause__)
            broken.append(error)
        else:
            handlers[handler.kind.lower()] = handler
            owners[handler.kind.lower()] = _distribution(entry_point)
    return Discovered(Registry(handlers.values()), tuple(broken))


def installed_kinds(settings: HandlerSettings) -> Kinds:
    """What this process knows of kinds, without making a handler."""
    names = kinds_of(entry_point.name for entry_point in entry_points(group=GROUP))
    if settings.enabled is None:
        return Kinds(names)
    return Kinds(names & settings.enabled, settings.enabled)


def _ours_first(found: Iterable[EntryPoint]) -> list[EntryPoint]:
    """Ours come first, so that nobody takes their kinds; then by name, so that every start is alike."""
    return sorted(
        found, key=lambda entry: (_distribution(entry) != OURS, _distribution(entry), entry.name, entry.value)
    )


def _made(entry_point: EntryPoint, settings: HandlerSettings, owners: Mapping[str, str]) -> Handler:
    kind = entry_point.name.lower()
    if kind in owners:
        raise _broken(entry_point, f"the kind is taken by {owners[kind]!r}.")
    try:
        handler: Handler = entry_point.load()(settings)
    except (Exception, SystemExit) as error:  # A plugin may raise anything while it is imported.
        raise _broken(entry_point, f"{entry_point.value} failed: {type(error).__name__}: {error}") from error
    if not (callable(getattr(handler, "check", None)) and callable(getattr(handler, "run", None))):
        raise _broken(entry_point, f"{entry_point.value} made a {type(handler).__name__}, not a handler.")
    if str(getattr(handler, "kind", "")).lower() != kind:
        raise _broken(entry_point, f"{entry_point.value} runs the kind {handler.kind!r}; name it so.")
    return handler


def _broken(entry_point: EntryPoint, reason: str) -> HandlerBroken:
    return HandlerBroken(entry_point.name, distribution=_distribution(entry_point), reason=reason)


def _distribution(entry_point: EntryPoint) -> str:
    return entry_point.dist.name if entry_point.dist is not None else "unknown"
