"""Who runs scripts: another user than the worker where that can be, so that a script cannot harm it."""

from __future__ import annotations

import logging
import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from gnomon.errors import InvalidInput

DEFAULT_WHEN_ROOT = "nobody"
# What root needs to become another user and to clean up after it: CHOWN, DAC_OVERRIDE, KILL, SETGID, SETUID.
CAPABILITIES_NEEDED = sum(1 << number for number in (0, 1, 5, 6, 7))

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class User:
    name: str
    uid: int
    gid: int


def script_user(wanted: str | None) -> User | None:
    """None: the worker's own user. Raises InvalidInput if the user who was asked for cannot be had."""
    if os.geteuid() != 0:
        if wanted is not None and _known(wanted).pw_uid != os.geteuid():
            raise InvalidInput("script_user", f"only root can run scripts as {wanted!r}.")
        return None
    if wanted == "root":
        return None
    try:
        return _another(wanted or DEFAULT_WHEN_ROOT)
    except InvalidInput as error:
        if wanted is not None:
            raise
        _log.warning("Scripts run as root: %s", error.reason)
        return None


def _another(name: str) -> User:
    entry = _known(name)
    if _effective_capabilities() & CAPABILITIES_NEEDED != CAPABILITIES_NEEDED:
        raise InvalidInput(
            "script_user",
            f"to run scripts as {name!r}, root needs CHOWN, DAC_OVERRIDE, KILL, SETGID and SETUID.",
        )
    return User(name, entry.pw_uid, entry.pw_gid)


def _known(name: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise InvalidInput("script_user", f"there is no user {name!r} here.") from None


def _effective_capabilities() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0
