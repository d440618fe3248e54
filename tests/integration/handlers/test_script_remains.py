"""Folders of scripts whose worker was killed are removed, and no others."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon.engine.workers.tidier import Tidier
from gnomon.handlers.registry import Registry
from gnomon.handlers.script.handler import ScriptHandler
from gnomon.handlers.script.remains import PREFIX, locked
from tests.attempts import an_attempt
from tests.integration.handlers.processes import gone, text_of
from tests.integration.handlers.scripts import SETTINGS, bash

WORKER = """
import asyncio, sys
from pathlib import Path
from gnomon.handlers.script.handler import ScriptHandler
from gnomon.settings import HandlerSettings
from tests.attempts import a_payload, an_attempt
place, ready = sys.argv[1:]
script = f"mkdir -p a/b; ln -s {ready} a/link; chmod 0 a; echo $PPID > {ready}; exec sleep 1000"
payload = a_payload({"interpreter": "bash", "script": script})
handler = ScriptHandler(HandlerSettings(script_folder=Path(place)))
asyncio.run(handler.run(payload, an_attempt()))
"""


@pytest.fixture
def place(open_folder: Path) -> Path:
    place = open_folder / "scripts"
    place.mkdir()
    place.chmod(0o755)
    return place


@pytest.fixture
async def handler(place: Path) -> AsyncIterator[ScriptHandler]:
    handler = ScriptHandler(replace(SETTINGS, script_folder=place))
    yield handler
    await handler.aclose()


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def abandoned(folder: Path) -> Path:
    """A folder of ours that no process holds."""
    folder.mkdir()
    os.close(locked(folder))
    return folder


async def test_the_next_worker_removes_what_a_killed_one_left(
    handler: ScriptHandler, place: Path, open_folder: Path
) -> None:
    """Worker and launcher are killed at once, as by the end of a container: neither can clean up."""
    ready = open_folder / "ready"
    worker = await asyncio.create_subprocess_exec(sys.executable, "-c", WORKER, str(place), str(ready))
    launcher = int(await text_of(ready))
    os.kill(launcher, signal.SIGSTOP)
    worker.kill()
    await worker.wait()
    os.kill(launcher, signal.SIGKILL)
    await gone(launcher)
    assert names(place)

    assert await Tidier(Registry([handler]).tidy).step()

    assert not names(place)
    assert "ready" in names(open_folder)  # The link to it is gone, not what it led to.


async def test_folders_that_are_too_deep_to_remove_fail_no_script_and_keep_no_others(
    handler: ScriptHandler, place: Path
) -> None:
    deep = "python3 -c \"import os\nfor _ in range(1200): os.mkdir('d'); os.chdir('d')\""
    assert await handler.run(bash(deep), an_attempt()) == {"exit_code": 0}
    left = names(place)
    assert len(left) == (
        sys.version_info < (3, 13)
    )  # Since then, Python removes folders however deep they are.
    abandoned(place / f"{PREFIX}zz")
    abandoned(place / f"{PREFIX}00")

    await handler.tidy()

    assert names(place) == left
    remover = await asyncio.create_subprocess_exec("rm", "-rf", str(place))
    assert await remover.wait() == 0


async def test_the_folder_of_a_script_that_runs_stays(
    handler: ScriptHandler, place: Path, open_folder: Path
) -> None:
    ready, go_on = open_folder / "ready", open_folder / "go-on"
    os.mkfifo(go_on)
    go_on.chmod(0o666)
    script = f"""echo ready > {ready}; read line < {go_on}; echo '"still here"' > "$GNOMON_RESULT" """
    running = asyncio.create_task(handler.run(bash(script), an_attempt()))
    await text_of(ready)
    await ScriptHandler(replace(SETTINGS, script_folder=place)).tidy()
    await asyncio.to_thread(go_on.write_text, "go on\n")
    assert await running == "still here"


async def test_what_is_not_surely_ours_stays(handler: ScriptHandler, place: Path, open_folder: Path) -> None:
    elsewhere = abandoned(open_folder / "elsewhere")
    (elsewhere / "precious").touch()
    (place / f"{PREFIX}link").symlink_to(elsewhere)
    (place / f"{PREFIX}no-lock").mkdir()
    (place / f"{PREFIX}file").touch()
    os.mkfifo(place / f"{PREFIX}fifo")
    other_lock = place / f"{PREFIX}lock-is-link"
    other_lock.mkdir()
    (other_lock / "lock").symlink_to(elsewhere / "lock")
    odd_lock = place / f"{PREFIX}lock-is-fifo"
    odd_lock.mkdir()
    os.mkfifo(odd_lock / "lock")
    abandoned(place / "gnomon-other-name")
    if os.geteuid() == 0:
        os.chown(abandoned(place / f"{PREFIX}of-another"), 65534, 65534)
        os.chown(abandoned(place / f"{PREFIX}lock-of-another") / "lock", 65534, 65534)
    before = names(place)
    ours = abandoned(place / f"{PREFIX}ours")
    (ours / "link").symlink_to(elsewhere)

    await handler.tidy()

    assert names(place) == before
    assert "precious" in names(elsewhere)


async def test_a_folder_that_is_not_there_is_no_trouble(open_folder: Path) -> None:
    await ScriptHandler(replace(SETTINGS, script_folder=open_folder / "none")).tidy()
