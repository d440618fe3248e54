"""Which settings there are, and where the value of each came from.

The first that says something wins: the option on the command line, the environment, the file `gnomon.toml` in
the current folder, the default.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from gnomon.errors import InvalidInput

FILE_NAME = "gnomon.toml"
DATABASE_DEFAULT = "sqlite://gnomon.db"
DATABASE_VARIABLES = ("GNOMON_DATABASE", "DATABASE_URL")
KEYS = frozenset({"database"})

# Greedy: a password that was not escaped may hold an @ or a slash itself.
_PASSWORD_BEFORE_HOST = re.compile(r"(?<=://)([^/@:?]*):.*@")
_PASSWORD_IN_QUERY = re.compile(r"(?<=[?&]password=)[^&]*")


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where it came from, in words for a person."""

    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class Settings:
    database: Setting


@dataclass(frozen=True, slots=True)
class HandlerSettings:
    """What a worker allows its handlers. Every factory of a handler is given this."""

    # python: where the functions are, as `module:attribute`, and how long one may take to come to an end.
    functions: str | None = None
    function_grace: timedelta = timedelta(seconds=5)
    # http: hosts, addresses and networks that may be called although the guard would refuse them.
    http_allow: tuple[str, ...] = ()
    http_timeout: timedelta = timedelta(seconds=30)
    # script: who runs it (None: `nobody` when the worker is root, else the worker's own user) and how much of
    # everything it may use. Processes are counted on top of what the user runs already.
    script_user: str | None = None
    script_folder: Path | None = None
    script_environment: frozenset[str] = frozenset({"PATH", "LANG", "LC_ALL", "TZ"})
    script_grace: timedelta = timedelta(seconds=5)
    script_cpu: timedelta = timedelta(hours=1)
    script_memory_bytes: int = 4 * 1024**3
    script_file_bytes: int = 1024**3
    script_open_files: int = 256
    script_processes: int = 256


def settings(*, database: str | None, environment: Mapping[str, str], folder: Path) -> Settings:
    """`database` is the option `--database`, if it was given. An empty variable counts as not set.

    Raises InvalidInput for a file that cannot be read or that holds an unknown key.
    """
    if database is not None:
        return Settings(Setting(database, "the option --database"))
    for variable in DATABASE_VARIABLES:
        if environment.get(variable):
            return Settings(Setting(environment[variable], f"the environment variable {variable}"))
    written = _written(folder / FILE_NAME)
    if "database" in written:
        return Settings(Setting(written["database"], f"the file {FILE_NAME}"))
    return Settings(Setting(DATABASE_DEFAULT, "the default"))


def without_password(url: str) -> str:
    """A database address as it may be shown."""
    return _PASSWORD_IN_QUERY.sub("***", _PASSWORD_BEFORE_HOST.sub(r"\1:***@", url))


def _written(path: Path) -> Mapping[str, str]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InvalidInput(FILE_NAME, f"cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(FILE_NAME, f"is not TOML: {error}.") from error
    for key, value in document.items():
        if key not in KEYS:
            raise InvalidInput(FILE_NAME, f"{key!r} is unknown; known: {', '.join(sorted(KEYS))}.")
        if not isinstance(value, str) or not value:
            raise InvalidInput(FILE_NAME, f'{key} must be a text. Example: {key} = "{DATABASE_DEFAULT}"')
    return document
