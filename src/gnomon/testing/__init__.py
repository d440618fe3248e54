"""For your tests: jobs that run inline on a store in memory, and a clock that you turn by hand."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.testing.clock import ManualClock as ManualClock
    from gnomon.testing.inline_run import Inline as Inline
    from gnomon.testing.inline_run import inline as inline
    from gnomon.testing.travel import Journey as Journey
    from gnomon.testing.travel import TimeTravel as TimeTravel

# Imported when asked for: pytest imports this package in every project that has Gnomon installed.
_HOMES = {
    "Inline": "gnomon.testing.inline_run",
    "Journey": "gnomon.testing.travel",
    "ManualClock": "gnomon.testing.clock",
    "TimeTravel": "gnomon.testing.travel",
    "inline": "gnomon.testing.inline_run",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
