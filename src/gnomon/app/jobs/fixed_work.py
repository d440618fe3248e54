"""HTTP calls and scripts in Python's words, and the payloads that they come to.

Checked as the handlers check them, but for what only a worker knows: which addresses its `http.allow` names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from gnomon.app.jobs.calls import as_plain, duration, plain
from gnomon.app.jobs.declaration import Seconds
from gnomon.core.values.document import JSON
from gnomon.errors import InvalidInput
from gnomon.handlers.payload import read

HTTP, SCRIPT = "http", "script"
# What runs a script that names nothing else. A line that fails, or a variable that is not set, ends it.
INTERPRETER = ("sh", "-eu")


@dataclass(frozen=True, slots=True)
class FixedWork:
    """What a job does that calls no function.

    `place` is the key of the payload that arguments go over. `closed` says why there are no arguments.
    """

    kind: str
    payload: Mapping[str, JSON]
    place: str
    closed: str | None = None

    @property
    def arguments(self) -> dict[str, JSON]:
        """What a run gets if its caller gives nothing."""
        said = self.payload.get(self.place)
        return said if isinstance(said, dict) else {}

    def fixed(self) -> dict[str, JSON]:
        return {key: value for key, value in self.payload.items() if key != self.place}


def http_work(
    url: str,
    *,
    method: str | None,
    headers: Mapping[str, str] | None,
    body: str | None,
    json: Any,
    expected_status: Sequence[int | str] | None,
    follow_redirects: bool,
    timeout: Seconds | None,
) -> FixedWork:
    """Raises InvalidInput that names what cannot be."""
    seconds = duration(timeout, field="timeout")
    said: dict[str, Any] = {
        "url": url,
        "method": method.upper() if isinstance(method, str) else method,
        "headers": None if headers is None else dict(headers),
        "body": body,
        "expected_status": None if expected_status is None else list(expected_status),
        "follow_redirects": follow_redirects or None,
        "timeout_seconds": None if seconds is None else seconds.total_seconds(),
    }
    payload: dict[str, Any] = {key: value for key, value in said.items() if value is not None}
    if json is not msgspec.UNSET:
        payload["json"] = as_plain(json, field="json")
    _check(HTTP, payload)
    return FixedWork(HTTP, payload, "json", _why_closed(payload))


def script_work(
    script: str | None,
    *,
    command: Sequence[str] | None,
    interpreter: str | Sequence[str] | None,
    env: Mapping[str, str] | None,
    arguments: Mapping[str, Any] | None,
) -> FixedWork:
    """Raises InvalidInput that names what cannot be."""
    if (script is None) == (command is None):
        raise InvalidInput("script", "give either `script`, a text, or `command`, the words of one program.")
    payload: dict[str, Any] = {}
    if command is not None:
        if isinstance(command, str):
            raise InvalidInput("command", "is a list of words; for a line of shell, use `script`.")
        if interpreter is not None:
            raise InvalidInput(
                "interpreter", "belongs to `script`; the first word of `command` is a program."
            )
        payload["argv"] = list(command)
    else:
        payload |= {"interpreter": _interpreter(str(script), interpreter), "script": script}
    if env:
        payload["env"] = dict(env)
    if arguments:
        payload["arguments"] = plain(arguments)
    _check(SCRIPT, payload)
    return FixedWork(SCRIPT, payload, "arguments")


def _interpreter(script: str, interpreter: str | Sequence[str] | None) -> list[str]:
    if interpreter is not None:
        return [interpreter] if isinstance(interpreter, str) else list(interpreter)
    if script.lstrip().startswith("#!"):
        raise InvalidInput("interpreter", "is missing: the first line (#!) of a script is not read.")
    return list(INTERPRETER)


def _why_closed(payload: Mapping[str, Any]) -> str | None:
    if "body" in payload:
        return "has no place: the job sends a `body` as it stands. With `json`, arguments go over it."
    if payload.get("method") in ("GET", "HEAD"):
        return f"has no place: a {payload['method']} sends nothing."
    if not isinstance(payload.get("json", {}), dict):
        return "has no place: the `json` of the job is not an object."
    return None


def _check(kind: str, payload: dict[str, Any]) -> None:
    try:
        check_payload(kind, payload)
    except InvalidInput as error:
        # In the words of the caller, who has written no payload.
        field = error.field.removeprefix("payload.")
        raise InvalidInput(
            {"timeout_seconds": "timeout", "argv": "command"}.get(field, field), error.reason
        ) from None


def check_payload(kind: str, payload: JSON) -> None:
    """Refuse what no worker could run. Raises InvalidInput."""
    # Loaded when they are needed: most apps declare neither.
    if kind == HTTP:
        from gnomon.handlers.http.guard import BadUrl, target_of
        from gnomon.handlers.http.payload import HttpPayload

        asked = read(payload, HttpPayload)
        asked.check()
        try:
            target_of(asked.url)
        except BadUrl as error:
            raise InvalidInput("payload.url", str(error)) from None
    elif kind == SCRIPT:
        from gnomon.handlers.script.payload import ScriptPayload

        read(payload, ScriptPayload).check()
