"""Which settings there are, and where the value of each came from.

The first that says something wins: the option on the command line, the environment, the file `gnomon.toml` in
the current folder (or the one that `config` names), the default.
"""

from __future__ import annotations

from gnomon.settings.api import ApiSettings
from gnomon.settings.declaration import (
    TABLE,
    DagSettings,
    HandlerSettings,
    HealthSettings,
    LogSettings,
    SchedulerSettings,
    Settings,
    WorkerSettings,
)
from gnomon.settings.kinds import without_password
from gnomon.settings.reading import Reading, Setting, read

__all__ = [
    "TABLE",
    "ApiSettings",
    "DagSettings",
    "HandlerSettings",
    "HealthSettings",
    "LogSettings",
    "Reading",
    "SchedulerSettings",
    "Setting",
    "Settings",
    "WorkerSettings",
    "read",
    "without_password",
]
