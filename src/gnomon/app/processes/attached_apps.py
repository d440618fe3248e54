"""Apps in the process that runs their jobs: what they declare is registered, and they share its store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib import import_module
from operator import attrgetter

from gnomon.app.gnomon import Gnomon
from gnomon.app.processes.engine import Engine
from gnomon.app.processes.patience import patiently
from gnomon.settings import Settings, without_password


@asynccontextmanager
async def attached_apps(settings: Settings, engine: Engine) -> AsyncIterator[None]:
    """The apps that the settings name work through the engine, until the end of the block."""
    what = f"the database {without_password(settings.database)}"
    async with AsyncExitStack() as stack:
        for app in apps_of(settings.app):
            app.use(settings.database)
            attach = partial(_attach, app, engine, stack)
            await patiently(what, attach, patience=settings.startup.wait)
        yield


async def _attach(app: Gnomon, engine: Engine, stack: AsyncExitStack) -> None:
    await stack.enter_async_context(app.attached(engine))


def apps_of(homes: Sequence[str]) -> list[Gnomon]:
    """Those of `module:attribute` that are apps, each once. The others are registries of functions alone."""
    found: list[Gnomon] = []
    for home in homes:
        module, _, attribute = home.partition(":")
        place = attrgetter(attribute)(import_module(module))
        if isinstance(place, Gnomon) and place not in found:
            found.append(place)
    return found
