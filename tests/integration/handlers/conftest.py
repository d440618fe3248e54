"""`handler`: of scripts, in a folder of its own. `open_folder`: where they may write."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from tempfile import gettempdir

import pytest

from gnomon.handlers.script.handler import ScriptHandler
from tests.integration.handlers.scripts import SETTINGS


@pytest.fixture
def user() -> str | None:
    """By default another user than the worker where that can be."""
    return None


@pytest.fixture
def open_folder(tmp_path: Path) -> Path:
    """A folder into which the user of the scripts may write, whoever that is."""
    for folder in takewhile(lambda one: one != Path(gettempdir()), (tmp_path, *tmp_path.parents)):
        folder.chmod(0o777)
    return tmp_path


@pytest.fixture
async def handler(open_folder: Path, user: str | None) -> AsyncIterator[ScriptHandler]:
    place = open_folder / "scripts"
    place.mkdir()
    place.chmod(0o755)
    handler = ScriptHandler(replace(SETTINGS, script_folder=place, script_user=user))
    yield handler
    await handler.aclose()
    assert not list(place.iterdir()), "A run left its folder behind."
