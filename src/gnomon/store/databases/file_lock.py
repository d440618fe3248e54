"""A database file that one process works on alone: who holds it, and how a second one is told.

The kernel keeps the lock and frees it when the process ends, however it ends. The file of the lock stays; its
being there says nothing. What is written in it is for people: who holds the lock, or held it last.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from gnomon.errors import StoreRefused, StoreTaken
from gnomon.store.databases.files import PRIVATE, open_private

SUFFIX = ".lock"
NOTE_BYTES_MAX = 1024


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that asks for the file."""

    process_id: int
    host: str


@contextmanager
def held(path: Path, holder: Holder) -> Iterator[None]:
    """Holds a database file until the end of the block.

    Raises StoreTaken if another process holds it, and StoreRefused where nobody could hold it safely.
    """
    path = path.expanduser().resolve()  # Two names of one file must meet at one lock.
    lock = path.with_name(path.name + SUFFIX)
    try:
        _check_folder(path.parent)
        descriptor = open_private(lock, os.O_NOFOLLOW)
    except OSError as error:
        raise StoreRefused(f"{lock} cannot be opened: {error.strerror}.") from error
    ours = {descriptor}
    os.register_at_fork(after_in_child=lambda: _let_go(ours))
    try:
        _lock(descriptor, path)
        os.fchmod(descriptor, PRIVATE)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(asdict(holder)).encode(), 0)
        yield
    finally:
        _let_go(ours)


def _let_go(descriptors: set[int]) -> None:
    """Close, not unlock: a forked child must neither free what its parent holds nor hold it for longer."""
    while descriptors:
        os.close(descriptors.pop())


def _check_folder(folder: Path) -> None:
    mode = folder.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise StoreRefused(
            f"Everybody on this machine may change the files in {folder}. Run: chmod o-w {folder}"
        )


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        process_id, host = _noted(descriptor)
        raise StoreTaken(str(path), process_id=process_id, host=host) from None


def _noted(descriptor: int) -> tuple[int, str] | tuple[None, None]:
    """Who wrote into the file. Nobody if that cannot be read: the holder may be about to write."""
    try:
        match json.loads(os.pread(descriptor, NOTE_BYTES_MAX, 0)):
            case {"process_id": int(process_id), "host": str(host)}:
                return process_id, host
    except ValueError:
        pass
    return None, None
