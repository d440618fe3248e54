"""A job in the words of the command line: options and files to the form that the API takes."""

from __future__ import annotations

import re
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from gnomon.cli.files import yaml_files
from gnomon.cli.session.names import job_names
from gnomon.core.values.instants import instant_text, parse_instant
from gnomon.core.values.json_text import parse_json
from gnomon.errors import InvalidInput

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")

Kind = Annotated[str | None, typer.Option(help="What runs it: http, script, python, ...")]
Payload = Annotated[
    str | None, typer.Option(metavar="JSON|@FILE", help="What the handler of that kind wants.")
]
Cron = Annotated[str | None, typer.Option(metavar="EXPRESSION", help="Run by a cron expression.")]
Timezone = Annotated[str | None, typer.Option(metavar="ZONE", help="An IANA time zone for it.")]
Every = Annotated[str | None, typer.Option(metavar="DURATION", help="Run again and again: 90, 5m, 2h, 1d.")]
At = Annotated[str | None, typer.Option(metavar="TIME", help="Run once, at an RFC 3339 time.")]
Delay = Annotated[str | None, typer.Option("--in", metavar="DURATION", help="Run once, so long from now.")]
Retries = Annotated[int | None, typer.Option(min=0, help="How often to try again.")]
Timeout = Annotated[str | None, typer.Option(metavar="DURATION", help="Stop an attempt after this.")]
Priority = Annotated[int | None, typer.Option(min=0, max=9, help="0 to 9; the higher goes first.")]
Queue = Annotated[str | None, typer.Option(help="Which queue it waits in.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="To find it by. May be given several times.")]
After = Annotated[
    list[str] | None,
    typer.Option(
        "--after",
        metavar="JOB",
        help="A job it waits for. Several are possible.",
        autocompletion=job_names,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FIELD=JSON", help="Any other field of the form of a job."),
]
File = Annotated[
    str | None, typer.Option("--file", "-f", metavar="FILE", help="The form, as YAML or JSON. - is stdin.")
]

AllowUnknownKind = Annotated[
    bool,
    typer.Option("--allow-unknown-kind", help="Also kinds that no handler and no live worker has yet."),
]


def form_of(file: str | None, fields: list[str] | None, **said: Any) -> dict[str, Any]:
    """What the file says, then `--set`, then the options. Raises InvalidInput."""
    form = dict(_object(file)) if file is not None else {}
    for word in fields or ():
        field, equals, value = word.partition("=")
        if not equals or not field:
            raise InvalidInput("--set", f"{word!r} is not FIELD=VALUE.")
        form[field] = _value(value)
    return form | {name: value for name, value in _fields(**said).items() if value is not None}


def _fields(
    *,
    payload: str | None,
    every: str | None,
    at: str | None,
    delay: str | None,
    retries: int | None,
    timeout: str | None,
    after: list[str] | None,
    allow_unknown_kind: bool,
    **same: Any,
) -> dict[str, Any]:
    return {
        **{name: value for name, value in same.items() if value != []},
        "payload": None if payload is None else read_json(payload, field="--payload"),
        "interval_seconds": None if every is None else duration(every, field="--every"),
        "run_at": at,
        "delay_seconds": None if delay is None else duration(delay, field="--in"),
        "retry_policy": None if retries is None else {"max_retries": retries},
        "timeout_seconds": None if timeout is None else duration(timeout, field="--timeout"),
        "dependencies": after or None,
        "allow_unknown_kind": allow_unknown_kind or None,
    }


def duration(text: str, *, field: str) -> float:
    found = _DURATION.fullmatch(text)
    if found is None:
        raise InvalidInput(field, f"{text!r} is not a duration such as 90, 90s, 5m, 2h or 1d.")
    seconds = float(found[1]) * _UNITS[found[2]]
    return int(seconds) if seconds.is_integer() else seconds


def moment(text: str, *, now: datetime, field: str) -> str:
    """An instant as it is, or a duration before now: `2h`. Raises InvalidInput."""
    if _DURATION.fullmatch(text):
        try:
            return instant_text(now - timedelta(seconds=duration(text, field=field)))
        except OverflowError:
            raise InvalidInput(field, f"{text!r} is longer ago than the year 1.") from None
    try:
        return instant_text(parse_instant(text, field=field))
    except InvalidInput as error:
        error.add_note("A duration before now works, too: 2h, 30m or 7d.")
        raise


def read_json(text: str, *, field: str) -> Any:
    """JSON, or the file with it after an @."""
    if text.startswith("@"):
        text = read_text(text[1:], field=field)
    return parse_json(text, field=field)


def read_text(path: str, *, field: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput(field, f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise InvalidInput(field, f"{path} is not UTF-8.") from None


def read_yaml(path: str, *, field: str) -> Any:
    """YAML, and so JSON. Raises InvalidInput."""
    return yaml_files.decode(read_text(path, field=field), field=field, path=path)


def _object(path: str) -> dict[str, Any]:
    found = read_yaml(path, field="--file")
    if not isinstance(found, dict):
        raise InvalidInput("--file", "must hold one job: an object with its fields.")
    return found


def _value(text: str) -> Any:
    """JSON if it is, else the text itself: `--set queue=mail` needs no quotes."""
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    return parse_json(text, field="--set")
