"""The folders that scripts of killed workers left behind. A folder is somebody's as long as its lock is held.

The worker that makes a folder holds its lock until the folder is gone; the kernel lets go of it when that
worker dies, however it dies. What has no lock, is no folder, or is not ours, is left alone.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

PREFIX = "gnomon-script-"
WORKABLE = 0o700
_LOCK, _NEW_LOCK = "lock", "lock.new"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def locked(folder: Path) -> int:
    """Marks a new folder as ours, as long as the descriptor is open."""
    descriptor = os.open(folder / _NEW_LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        # Nobody finds it by its name before it is locked.
        (folder / _NEW_LOCK).rename(folder / _LOCK)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def remove(folder: Path, *, is_of_script: bool) -> None:
    """What cannot be removed stays, and costs only space. Links are removed, not followed.

    `is_of_script`: the script's user is ours, so it may have locked its own folders, and we may unlock them.
    Otherwise we are root, who gets in everywhere, and who must change no modes.
    """
    if is_of_script:
        _unlock(folder)
    with suppress(RecursionError):  # Folders inside of each other, a thousand deep.
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(parent: Path, *, is_of_script: bool) -> int:
    """Returns how many folders were removed."""
    count = 0
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX):
                with suppress(OSError):
                    count += _removed(parent / entry.name, is_of_script=is_of_script)
    return count


def _removed(path: Path, *, is_of_script: bool) -> bool:
    """Raises OSError for what is no folder of ours, or is held."""
    folder = os.open(path, _FOLDER)
    try:
        if os.fstat(folder).st_uid != os.geteuid():
            return False
        lock = os.open(_LOCK, _FILE, dir_fd=folder)
        try:
            facts = os.fstat(lock)
            if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
                return False
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(path, is_of_script=is_of_script)
        finally:
            os.close(lock)
    finally:
        os.close(folder)
    return not path.exists()


def _unlock(top: Path) -> None:
    for place, folders, _ in os.walk(top):
        for folder in (Path(place, name) for name in folders):
            if not folder.is_symlink():
                with suppress(OSError):
                    folder.chmod(WORKABLE)
