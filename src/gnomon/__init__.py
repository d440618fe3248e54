"""Gnomon: cron as a service, a durable job queue and DAG workflows in one program."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.app.gnomon import Gnomon as Gnomon
    from gnomon.app.jobs.run import Run as Run
    from gnomon.core.jobs.retry import Backoff as Backoff
    from gnomon.core.jobs.retry import RetryPolicy as RetryPolicy
    from gnomon.core.time.schedule import Schedule as Schedule
    from gnomon.errors import GnomonError as GnomonError
    from gnomon.errors import InvalidInput as InvalidInput
    from gnomon.errors import RunFailed as RunFailed
    from gnomon.errors import RunNotEnded as RunNotEnded
    from gnomon.handlers.base import Context as Context
    from gnomon.handlers.base import JobFailed as JobFailed
    from gnomon.handlers.base import Snooze as Snooze
    from gnomon.handlers.base import Stopped as Stopped

__version__ = "0.1.0"

# What `from gnomon import …` offers, and where it lives. Imported when asked for: the command line and the
# child processes of workers need little of it.
_HOMES = {
    "Gnomon": "gnomon.app.gnomon",
    "Run": "gnomon.app.jobs.run",
    "Backoff": "gnomon.core.jobs.retry",
    "RetryPolicy": "gnomon.core.jobs.retry",
    "Schedule": "gnomon.core.time.schedule",
    "GnomonError": "gnomon.errors",
    "InvalidInput": "gnomon.errors",
    "RunFailed": "gnomon.errors",
    "RunNotEnded": "gnomon.errors",
    "Context": "gnomon.handlers.base",
    "JobFailed": "gnomon.handlers.base",
    "Snooze": "gnomon.handlers.base",
    "Stopped": "gnomon.handlers.base",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
