"""A small disk for the database, that can be full. A file system in memory, so it takes root to make it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

SIZE = "768m"


@dataclass(frozen=True, slots=True)
class Disk:
    """`why_not` says why it cannot be full, if so. Then it is a plain folder."""

    folder: Path
    why_not: str | None = None

    @contextmanager
    def full(self) -> Iterator[None]:
        """Not one byte is left until the end of the block."""
        filler = self.folder / "filler"
        file = os.open(filler, os.O_WRONLY | os.O_CREAT)
        try:
            _fill(file, self.folder)
            yield
        finally:
            os.close(file)
            filler.unlink()


def _fill(file: int, folder: Path) -> None:
    """As much as there is, then half of that, and so on: others take and give back meanwhile."""
    free = os.statvfs(folder)
    size, piece = 0, free.f_bavail * free.f_frsize
    while piece >= free.f_frsize:
        try:
            os.posix_fallocate(file, size, piece)
            size += piece
        except OSError:
            piece //= 2


@contextmanager
def small_disk() -> Iterator[Disk]:
    folder = Path(tempfile.mkdtemp(prefix="gnomon-disk-"))
    folder.chmod(0o755)
    why_not = _mount(folder)
    usual, tempfile.tempdir = tempfile.tempdir, str(folder)  # Where a test server makes its own folder.
    try:
        yield Disk(folder, why_not)
    finally:
        tempfile.tempdir = usual
        if why_not is None:
            subprocess.run(["umount", "--lazy", folder], check=False)
        with suppress(OSError):
            folder.rmdir()


def _mount(folder: Path) -> str | None:
    """None if that worked, else why not."""
    if os.geteuid() != 0:
        return "only root can make a small disk"
    try:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=755", "tmpfs", folder],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return "there is no mount here"
    return None if done.returncode == 0 else done.stderr.strip()
