"""Looking at real processes: whether they live, and waiting for what they write."""

from __future__ import annotations

import asyncio
from pathlib import Path

WRITTEN_SECONDS_MAX = 60


async def text_of(path: Path) -> str:
    """What a process writes, once it has written a whole line. Raises TimeoutError."""
    async with asyncio.timeout(WRITTEN_SECONDS_MAX):
        while not (text := _read(path)).endswith("\n"):  # noqa: ASYNC110 - see below.
            await asyncio.sleep(0.005)
    return text


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # The latter, if it goes while we read.
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


async def gone(pid: int) -> None:
    while is_alive(pid):  # noqa: ASYNC110 - the kernel sets no event for us.
        await asyncio.sleep(0.005)


def with_marker(marker: str) -> list[int]:
    """The processes whose command line holds the marker."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in line and is_alive(int(folder.name)):
                found.append(int(folder.name))
    return found
