"""Where an SQLite file may lie, and who may read it."""

from __future__ import annotations

import logging
import os
import shlex
import stat
from contextlib import suppress
from errno import EACCES, EISDIR
from pathlib import Path

from gnomon.errors import StoreRefused

logger = logging.getLogger(__name__)

PRIVATE = 0o600
MOUNTS = Path("/proc/mounts")
# Locks and shared memory, which WAL stands on, do not work across a network.
NETWORK_FILE_SYSTEMS = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.sshfs", "fuse.glusterfs",
    "fuse.s3fs", "fuse.rclone", "lustre", "beegfs", "ocfs2", "gfs2",
})  # fmt: skip


def claim_file(path: Path) -> Path:
    """The absolute path of a database file, made for its owner alone if it is not there yet."""
    path = path.expanduser().absolute()
    try:
        if not path.parent.is_dir():
            raise StoreRefused(f"The folder {path.parent} does not exist. Make it, or choose another file.")
        kind = file_system_of(path.parent)
        if kind in NETWORK_FILE_SYSTEMS:
            raise StoreRefused(
                f"{path} lies on a network file system ({kind}), where SQLite cannot keep its promises. "
                "Use a local disk, or PostgreSQL."
            )
        _make_or_check(path)
        if path.stat().st_mode & stat.S_IWOTH:
            raise StoreRefused(f"All users of this machine may write {path}. Run: chmod 600 {path}")
    except OSError as error:
        raise StoreRefused(f"{path} cannot be opened: {error.strerror}.") from error
    return path


def _make_or_check(path: Path) -> None:
    """Does not open a file that is there. Raises OSError if it cannot be used.

    POSIX frees all locks of a process on a file when it closes any descriptor of that file. Those of SQLite
    would be gone, and the next process that leaves the database would delete its log under us.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        with suppress(FileExistsError):  # Made by another process in this moment.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE))
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    if not os.access(path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(EACCES, os.strerror(EACCES))


def warn_if_readable(path: Path) -> None:
    """In the file are all payloads, results and log lines."""
    if path.stat().st_mode & stat.S_IROTH:
        beside = [name for name in (f"{path}-wal", f"{path}-shm") if Path(name).exists()]
        logger.warning(
            "all users of this machine can read %s. Run: chmod 600 %s",
            path,
            shlex.join([str(path), *beside]),
        )


def open_private(path: Path, flags: int = 0) -> int:
    """A descriptor of the file, which is made for its owner alone if it is not there yet."""
    # In a folder like /tmp, Linux lets nobody, not even root, open the file of another with O_CREAT.
    try:
        return os.open(path, os.O_RDWR | flags)
    except FileNotFoundError:
        return os.open(path, os.O_RDWR | flags | os.O_CREAT, PRIVATE)


def is_new_file(path: str) -> bool:
    """True if there is no database yet: no file, or an empty one."""
    try:
        return Path(path).expanduser().stat().st_size == 0
    except FileNotFoundError:
        return True
    except OSError:
        return False  # There is something, and opening it will say what is wrong.


def file_system_of(folder: Path, mounts: str | None = None) -> str | None:
    """The kind of file system that holds a folder, or None where the system does not tell."""
    if mounts is None:
        if not MOUNTS.exists():
            return None
        mounts = MOUNTS.read_text(encoding="utf-8", errors="replace")
    real = folder.resolve()
    found: tuple[int, str] | None = None
    for line in mounts.splitlines():
        _, mount_point, kind, *_ = line.split(" ")
        # The kernel writes spaces and their like as octal.
        point = Path(mount_point.encode().decode("unicode_escape"))
        if real.is_relative_to(point) and (found is None or len(point.parts) >= found[0]):
            found = (len(point.parts), kind)
    return found[1] if found else None
