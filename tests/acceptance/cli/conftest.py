"""A real server, and the program as a person at a terminal runs it against it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.nodes import first_key, node

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Desk:
    """`desk("job", "list")` runs `gnomon job list`, with the server and its key in the environment."""

    folder: Path
    url: str
    key: str

    def __call__(self, *words: str, exit_code: int = 0, stdin: str = "", **variables: str) -> Done:
        own = {"GNOMON_SERVER": self.url, "GNOMON_KEY": self.key, "XDG_CONFIG_HOME": str(self.folder)}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GNOMON_")}
        done = subprocess.run(
            [sys.executable, "-m", "gnomon.cli", *words],
            cwd=self.folder,
            env=kept | own | variables,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == exit_code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    def json(self, *words: str, **more: Any) -> Any:
        return json.loads(self(*words, "--output", "json", **more).stdout)


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One server for all: tests of it choose names of their own."""
    with node(tmp_path_factory.mktemp("server"), "up") as up:
        yield Desk(tmp_path_factory.mktemp("desk"), up.url, first_key(up))
