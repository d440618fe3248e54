"""What keeps a script that runs as the worker's own user away from the worker: Landlock, a part of Linux.

A program inside of a Landlock domain can look at no process outside of it: not at its memory, its environment
or its descriptors, neither by /proc nor by ptrace. It opens only files for which there is a rule. It needs no
privileges, no user namespaces and no tools, and a program cannot leave its domain. The worker decides here
what is allowed; the launcher puts the domain on.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

ENTRIES_MAX = 10_000  # In all folders above a hidden file: each of them takes a rule.

_CREATE_RULESET, _ASK_VERSION = 444, 1

# Rights by their bits in the kernel's interface. What is not handled is always allowed: to list a folder, to
# use the network.
_EXECUTE, _WRITE_FILE, _READ_FILE, _REMOVE_DIR, _REMOVE_FILE = 1 << 0, 1 << 1, 1 << 2, 1 << 4, 1 << 5
_MAKE_ANYTHING = 0b1111111 << 6
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_SCOPE_SIGNAL = 1 << 1

# Beside a database of SQLite. They come and go.
_SUFFIXES = ("", "-wal", "-shm", "-journal")


class Confinement(TypedDict):
    """As the launcher gets it. `rules`: paths, with all that is allowed below them."""

    handled: int
    scoped: int
    rules: list[tuple[str, int]]


class TooManyEntries(Exception):
    """A hidden file is in, or below, a folder with more entries than there can be rules."""


def landlock_version() -> int:
    """0 where the kernel has no Landlock, or where this process may not use it."""
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(
        ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION)
    )
    return max(0, int(version))


def confinement(version: int, *, hidden: Iterable[str], own: str) -> Confinement:
    """Everything is allowed but to touch hidden files, and to put new ones beside them; and all in `own`.

    Rules only allow. So each entry of the folders above a hidden file gets a rule of its own, as far as it is
    there now. Raises TooManyEntries.
    """
    assert version > 0
    handled = _ON_FILES & ~_TRUNCATE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_ANYTHING
    if version >= 2:
        handled |= _REFER
    if version >= 3:
        handled |= _TRUNCATE
    rules = [(own, handled)]
    for path, is_folder in _allowed(_tree(hidden)):
        rules.append((path, handled if is_folder else handled & _ON_FILES))
        if len(rules) > ENTRIES_MAX:
            raise TooManyEntries(
                f"The folders above the files that script.hidden names hold more than {ENTRIES_MAX} entries. "
                "Give the database a folder of its own."
            )
    return {"handled": handled, "scoped": _SCOPE_SIGNAL if version >= 6 else 0, "rules": rules}


class _Tree(dict[str, "_Tree"]):
    """Names below a folder, on the way to a hidden file. That one has nothing below it."""


def _tree(hidden: Iterable[str]) -> _Tree:
    root = _Tree()
    for path in hidden:
        real = Path(path).expanduser().resolve()
        if not real.exists():
            continue
        *folders, name = real.parts[1:]
        at = root
        for folder in folders:
            at = at.setdefault(folder, _Tree())
        at.update({name + suffix: _Tree() for suffix in _SUFFIXES if name})
    return root


def _allowed(root: _Tree) -> Iterator[tuple[str, bool]]:
    if not root:
        yield "/", True
        return
    todo = [("", root)]
    while todo:
        folder, on_the_way = todo.pop()
        with suppress(OSError), os.scandir(folder or "/") as entries:
            for entry in entries:
                if entry.name not in on_the_way:
                    if not entry.is_symlink():  # What it leads to has its own path.
                        yield f"{folder}/{entry.name}", entry.is_dir()
                elif on_the_way[entry.name]:
                    todo.append((f"{folder}/{entry.name}", on_the_way[entry.name]))
