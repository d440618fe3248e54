"""Where Gnomon's own secrets are in the file system: what a script must not open."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit


def profile_file() -> Path:
    """Keeps the addresses and keys of the command line."""
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "gnomon" / "profiles.toml"


# Where PostgreSQL's clients look for secrets: in the address, in a variable, in the home folder.
_POSTGRES = (
    ("passfile", "PGPASSFILE", ".pgpass"),
    ("servicefile", "PGSERVICEFILE", ".pg_service.conf"),
    ("sslkey", "PGSSLKEY", ".postgresql/postgresql.key"),
)


def secret_files(values: Mapping[str, Any]) -> tuple[str, ...]:
    """With these settings. Some of them may not exist."""
    database = str(values.get("database", ""))
    path = database.removeprefix("sqlite://")
    found = [] if not path or "://" in path or path == ":memory:" else [path]
    found += [str(values[key]) for key in ("config", "api.tls_key") if values.get(key)]
    with suppress(RuntimeError):  # If this user has no home.
        found.append(str(profile_file()))
    if database.startswith(("postgres://", "postgresql://")):
        found += _of_postgres(database)
    return tuple(dict.fromkeys(found))


def _of_postgres(url: str) -> Iterator[str]:
    said: dict[str, list[str]] = {}
    with suppress(ValueError):  # The store says what is wrong with the address.
        said = parse_qs(urlsplit(url).query)
    for name, variable, file in _POSTGRES:
        path = said.get(name, [""])[-1] or os.environ.get(variable)
        with suppress(RuntimeError):  # If this user has no home.
            yield path or str(Path.home() / file)
