"""Where Gnomon's own secrets are in the file system: what a script must not open."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any


def profile_file() -> Path:
    """Keeps the addresses and keys of the command line."""
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "gnomon" / "profiles.toml"


def secret_files(values: Mapping[str, Any]) -> tuple[str, ...]:
    """With these settings. Some of them may not exist."""
    database = str(values.get("database", ""))
    path = database.removeprefix("sqlite://")
    found = [] if not path or "://" in path or path == ":memory:" else [path]
    found += [str(values[key]) for key in ("config", "api.tls_key") if values.get(key)]
    with suppress(RuntimeError):  # If this user has no home.
        found.append(str(profile_file()))
    return tuple(dict.fromkeys(found))
