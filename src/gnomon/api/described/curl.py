"""Each call as a command that a shell runs as it stands.

The key comes from `GNOMON_KEY`. An id in a path is a variable of the shell: `JOB_ID` for `{job_id}`.
"""

from __future__ import annotations

import json
import re
from typing import Any

_NAME = re.compile(r"\{([a-z_]+)\}")


def variables_in(path: str) -> list[str]:
    """Those that a call of this path needs, beside the key."""
    return [name.upper() for name in _NAME.findall(path)]


def command(base: str, path: str, method: str, operation: dict[str, Any]) -> str:
    """`base` is the address of the server, without a slash at its end."""
    body = _body(operation)
    is_stream = "text/event-stream" in json.dumps(operation["responses"])
    options = [f"-X {method.upper()}"] if _must_say(method, body) else []
    options += ["-N"] if is_stream else []
    address = _NAME.sub(lambda found: f"${{{found[1].upper()}}}", path)
    lines = [" ".join(["curl -sS", *options, f'"{base}{address}"'])]
    if "security" in operation:
        lines.append('-H "Authorization: Bearer $GNOMON_KEY"')
    if body is not None:
        lines.append(f"-d {_quoted(body)}")
    return " \\\n  ".join(lines)


def _must_say(method: str, body: Any) -> bool:
    return method not in ("get", "post") or (method == "post" and body is None)


def _body(operation: dict[str, Any]) -> Any:
    """The first example of a body that says something."""
    examples = (
        operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("examples", {})
    )
    values = [one["value"] for one in examples.values()]
    return next((one for one in values if one), values[0] if values else None)


def _quoted(body: Any) -> str:
    """For a POSIX shell: nothing in single quotes means anything but itself."""
    text = json.dumps(body, indent=2, ensure_ascii=False)
    return "'" + text.replace("'", "'\\''") + "'"
