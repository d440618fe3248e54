"""Lines of a crontab as jobs, and where the two do not mean the same."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from gnomon.errors import InvalidInput
from gnomon.handlers.script.payload import ScriptPayload

SHELL = "/bin/sh"
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")
_PERCENT = re.compile(r"(?<!\\)%")
_MAIL = ("MAILTO", "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING")
_ZONES = ("CRON_TZ", "TZ")

EVERYWHERE = (
    "commands run on a worker with the kind `script`, as the user that its settings say, in an empty folder.",
    "a time that was missed by more than a minute runs once, later. For cron's way: misfire_policy IGNORE.",
    "what a command prints is kept with its run, and mailed to nobody.",
)


@dataclass(frozen=True, slots=True)
class CrontabEntry:
    """A line that says to run something. `form` is None if it cannot be a job."""

    number: int
    text: str
    form: dict[str, Any] | None
    warnings: list[str] = field(default_factory=list)


def read_crontab(text: str, *, timezone: str, has_user: bool) -> Iterator[CrontabEntry]:
    """`timezone` is that of the machine whose crontab it is. `has_user`: it has a column for the user."""
    variables: dict[str, str] = {}
    taken: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        said = _ASSIGNMENT.fullmatch(line)
        if said is not None:
            variables[said[1]] = _unquoted(said[2])
            continue
        yield _entry(number, stripped, variables, taken, timezone=timezone, has_user=has_user)


def _entry(
    number: int, line: str, variables: Mapping[str, str], taken: set[str], *, timezone: str, has_user: bool
) -> CrontabEntry:
    columns = 1 if line.startswith("@") else 5
    words = line.split(None, columns + has_user)
    if len(words) < columns + has_user + 1:
        return CrontabEntry(
            number, line, None, ["is no line of a crontab: fields or the command are missing."]
        )
    cron, command = " ".join(words[:columns]), words[-1]
    if cron == "@reboot":
        return CrontabEntry(
            number, line, None, ["@reboot has no meaning here: jobs do not start with a machine."]
        )
    warnings = []
    if has_user:
        warnings.append(f"does not run as {words[columns]!r}: workers choose who runs scripts.")
    payload = _payload(command, variables, warnings)
    zone = next((variables[name] for name in _ZONES if name in variables), timezone)
    form = {
        "name": _name(command, taken),
        "kind": "script",
        "payload": payload,
        "cron": cron,
        "timezone": zone,
        "retry_policy": {"max_attempts": 1},  # cron does not try again.
    }
    return CrontabEntry(number, line, form, warnings)


def _payload(command: str, variables: Mapping[str, str], warnings: list[str]) -> dict[str, Any]:
    """What cron would run. After a percent sign comes what the command reads from stdin."""
    own, *lines = _PERCENT.split(command)
    script = own.replace("\\%", "%").strip()
    if lines:
        words = " ".join(shlex.quote(line.replace("\\%", "%")) for line in lines)
        script = f"printf '%s\\n' {words} | ( {script} )"
    env = {}
    for name, value in variables.items():
        if name in (*_MAIL, "SHELL", "CRON_TZ"):
            continue
        try:
            ScriptPayload(argv=["sh"], env={name: value}).check()
        except InvalidInput:
            warnings.append(f"{name} cannot be set here, and is left out.")
        else:
            env[name] = value
    payload: dict[str, Any] = {"interpreter": variables.get("SHELL", SHELL), "script": script}
    return payload | ({"env": env} if env else {})


def _name(command: str, taken: set[str]) -> str:
    """The program, with a number if it is there twice."""
    word = next(_plain_words(command), command)
    name = plain = PurePath(word).name[:200] or "command"
    number = 1
    while name in taken:
        number += 1
        name = f"{plain}-{number}"
    taken.add(name)
    return name


def _plain_words(command: str) -> Iterator[str]:
    """Without assignments and `cd somewhere &&` before the program."""
    words: Iterable[str] = iter(command.split())
    for word in words:
        if word == "cd":
            next(iter(words), None)
            next(iter(words), None)
        elif "=" not in word:
            yield word


def _unquoted(value: str) -> str:
    is_quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if is_quoted else value
