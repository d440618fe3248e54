"""From the words on the command line to settings, and the start of the log.

A command names the options it takes; what each means, and what it accepts, is in the table of settings.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gnomon import logs
from gnomon.cli.output.terminal import say
from gnomon.settings import TABLE, Reading, Settings, read

_ROWS = {row.key: row for row in TABLE}

_log = logging.getLogger(__name__)


def option(key: str, metavar: str) -> Any:
    """The option of a setting. Its value is checked with all the others, by `chosen` or `start`."""
    row = _ROWS[key]
    return typer.Option(row.option, metavar=metavar, help=row.meaning)


Config = Annotated[str | None, option("config", "FILE")]
Database = Annotated[str | None, option("database", "URL")]
LogFormat = Annotated[str | None, option("log.format", "auto|human|json")]
LogLevel = Annotated[str | None, option("log.level", "debug|info|warning|error")]


def read_settings(**options: str | None) -> Reading:
    """What options, environment and file say, mistakes included. Options go by the word of their setting."""
    unknown = options.keys() - {row.word for row in TABLE}
    assert not unknown, f"No settings: {unknown}"
    return read(options=options, environment=os.environ, folder=Path.cwd())


def chosen(**options: str | None) -> tuple[Settings, Reading]:
    """For a command that answers and ends: the settings, and where they came from. Warnings go to stderr.

    Raises InvalidInput for the first mistake.
    """
    found = read_settings(**options)
    settings = found.settings()
    for warning in found.warnings:
        say(f"gnomon: warning: {warning}", err=True)
    return settings, found


def start(**options: str | None) -> Settings:
    """For a command that stays: the settings, and from now on every line of log as they say, on stderr.

    Raises InvalidInput for the first mistake.
    """
    found = read_settings(**options)
    settings = found.settings()
    logs.configure(settings.log.format, settings.log.level, sys.stderr, environment=os.environ)
    for warning in found.warnings:
        _log.warning("%s", warning)
    return settings
