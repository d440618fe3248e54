"""What keeps a script that runs as the worker's own user away from the worker: Landlock, a part of Linux.

A program inside of a Landlock domain can look at no process outside of it: not at its memory, its environment
or its descriptors, neither by /proc nor by ptrace. It opens only files for which there is a rule. It needs no
privileges, no user namespaces and no tools, and a program cannot leave its domain. What Landlock leaves open,
to set the limits of another process of the same user, a filter of system calls (seccomp) refuses. The worker
decides here what is allowed; the launcher puts both on.
"""

from __future__ import annotations

import ctypes
import errno
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

# The number of prlimit64 in each interface of the kernel: x86_64, i386, aarch64, arm, riscv64.
_PRLIMIT = {0xC000003E: 302, 0x40000003: 340, 0xC00000B7: 261, 0x40000028: 369, 0xC00000F3: 261}
_X32 = 0x40000000  # Set in the number of a call of x86_64 with short pointers.
_LOAD, _AND, _IF_EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06
_NUMBER, _INTERFACE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM

# Beside a database of SQLite. They come and go.
_SUFFIXES = ("", "-wal", "-shm", "-journal")


class Confinement(TypedDict):
    """As the launcher gets it. `rules`: paths, with all that is allowed below them."""

    handled: int
    scoped: int
    rules: list[tuple[str, int]]
    calls: list[tuple[int, int, int, int]]  # A program: see `_filter`.


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
    scoped = _SCOPE_SIGNAL if version >= 6 else 0
    return {"handled": handled, "scoped": scoped, "rules": rules, "calls": _filter()}


def _filter() -> list[tuple[int, int, int, int]]:
    """Steps of a program that refuses prlimit64 for any process but the one that calls it, which is 0.

    A step is its code, how many to skip if it holds and if not, and a number.
    """
    steps = []
    for interface, number in _PRLIMIT.items():
        steps += [
            (_LOAD, 0, 0, _INTERFACE),
            (_IF_EQUAL, 0, 6, interface),
            (_LOAD, 0, 0, _NUMBER),
            (_AND, 0, 0, 0xFFFFFFFF & ~_X32),
            (_IF_EQUAL, 0, 3, number),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            (_IF_EQUAL, 1, 0, 0),
            (_RETURN, 0, 0, _REFUSE),
        ]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


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
