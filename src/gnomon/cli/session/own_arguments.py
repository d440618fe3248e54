"""Secrets among the program's own arguments, which every user of a machine can read in the list of processes.

The kernel shows the memory where the arguments were put at the start. On Linux that memory is overwritten. A
secret was visible until then, so a warning names the better ways.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from gnomon.settings import without_password

_CMDLINE, _STAT = Path("/proc/self/cmdline"), Path("/proc/self/stat")
_ARG_START = 48  # Field of /proc/self/stat, counted from 1, as proc(5) does.
_AFTER_NAME = 3  # The first field after the program's name, which may hold spaces and brackets.
_STARS = "***"

DATABASE, KEY = "--database", "--key"
ADVICE = {
    DATABASE: "The password in --database was visible in the list of processes. Better: set "
    "GNOMON_DATABASE, write `database` into gnomon.toml (chmod 600), or leave the password to ~/.pgpass.",
    KEY: "The key in --key was visible in the list of processes. Better: set GNOMON_KEY, or run "
    "`gnomon login` once.",
}


def hide_secrets(arguments: Sequence[str]) -> list[str]:
    """Overwrites what other users can see of them. Returns a warning for each kind of secret there was."""
    found = list(_secrets(arguments))
    if found:
        _overwrite({argument: shown for _, argument, shown in found})
    return [ADVICE[option] for option in ADVICE if any(option == one for one, _, _ in found)]


def _secrets(arguments: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """The option, the argument that holds its secret, and how that argument may be shown."""
    for before, word in pairwise(["", *arguments]):
        for option in ADVICE:
            start = f"{option}="
            if before == option:
                value, start = word, ""
            elif word.startswith(start):
                value = word.removeprefix(start)
            else:
                continue
            shown = without_password(value) if option == DATABASE else _STARS
            if shown != value:
                yield option, word, start + shown


def _overwrite(masked: dict[str, str]) -> None:
    """Byte for byte in place: a shorter text is filled up with spaces."""
    try:
        seen = _CMDLINE.read_bytes()
        fields = _STAT.read_text().rpartition(")")[2].split()
    except OSError:
        return  # No Linux: the warning has to do.
    address = int(fields[_ARG_START - _AFTER_NAME])
    if not address:
        return
    place = 0
    for argument in seen.split(b"\0")[:-1]:
        shown = masked.get(argument.decode(errors="surrogateescape"))
        if shown is not None:
            size = len(argument)
            ctypes.memmove(address + place, shown.encode(errors="surrogateescape")[:size].ljust(size), size)
        place += len(argument) + 1
