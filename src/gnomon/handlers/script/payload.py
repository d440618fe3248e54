"""What a job of the kind `script` says, and the environment it runs in. Nothing is spliced into text."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from gnomon.core.values.document import JSON, check_text
from gnomon.errors import InvalidInput
from gnomon.handlers.base import Context
from gnomon.handlers.script.folder import Folder

PATH_DEFAULT = "/usr/local/bin:/usr/bin:/bin"
VARIABLE_BYTES_MAX = 100_000  # Linux takes 131,072 for one; the name and some room are off.
VARIABLES_BYTES_MAX = 1_000_000  # Together. More, and the program would not start.
WORDS_MAX = 1000

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# What changes how programs are loaded, interpreted or found by others than the script itself.
_FORBIDDEN_PREFIXES = ("LD_", "DYLD_", "GNOMON_", "PYTHON", "BASH", "PERL5", "RUBY", "GLIBC_", "MALLOC_")
_FORBIDDEN = re.compile(
    r"CDPATH|ENV|GCONV_PATH|GETCONF_DIR|GLOBIGNORE|HOME|HOSTALIASES|IFS|JAVA_TOOL_OPTIONS|LOCALDOMAIN"
    r"|LOCPATH|LOGNAME|NLSPATH|NODE_OPTIONS|PERLLIB|PROMPT_COMMAND|PS4|RESOLV_HOST_CONF|RES_OPTIONS|SHELLOPTS|TMPDIR|TZDIR"
    r"|USER|ZDOTDIR"
)


class ScriptPayload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    interpreter: str | list[str] | None = None
    script: str | None = None
    argv: list[str] | None = None
    env: dict[str, str] = {}
    arguments: dict[str, Any] = {}

    def check(self) -> None:
        """Raises InvalidInput for what no worker could run."""
        if self.argv is None:
            if self.script is None or not self._interpreter:
                raise InvalidInput("payload", "needs `interpreter` and `script`, or `argv`.")
            check_text(self.script, field="payload.script")
        elif self.script is not None or self.interpreter is not None:
            raise InvalidInput("payload.argv", "stands alone, without `interpreter` and `script`.")
        words = self._interpreter if self.argv is None else self.argv
        field = "payload.interpreter" if self.argv is None else "payload.argv"
        if not words or not words[0].strip() or len(words) > WORDS_MAX:
            raise InvalidInput(field, f"must be 1 to {WORDS_MAX} words, the first one a program.")
        for word in words:
            check_text(word, field=field)
        _check_environment(self.env)

    def command(self, folder: Folder) -> list[str]:
        return [*self._interpreter, str(folder.script)] if self.argv is None else self.argv

    @property
    def _interpreter(self) -> list[str]:
        if self.interpreter is None:
            return []
        return [self.interpreter] if isinstance(self.interpreter, str) else self.interpreter


def environment(
    asked: ScriptPayload, given: Mapping[str, JSON], *, context: Context, folder: Folder, kept: frozenset[str]
) -> dict[str, str]:
    """All that the script will find: `kept` of the worker's own, what the job asks for, and ours."""
    own = {name: os.environ[name] for name in sorted(kept) if name in os.environ}
    ours = {
        "HOME": str(folder.work),
        "TMPDIR": str(folder.work),
        "GNOMON_EXECUTION_ID": str(context.execution_id),
        "GNOMON_JOB_ID": str(context.job_id),
        "GNOMON_ATTEMPT": str(context.attempt),
        "GNOMON_FENCING_TOKEN": context.token,
        "GNOMON_INPUT": str(folder.input),
        "GNOMON_RESULT": str(folder.result),
    }
    if context.nominal_time is not None:
        ours["GNOMON_NOMINAL_TIME"] = context.nominal_time.isoformat()
    return {"PATH": PATH_DEFAULT} | own | asked.env | _parameters(given) | ours


def _parameters(given: Mapping[str, JSON]) -> dict[str, str]:
    """Plain values by name. Everything, these included, is in the file GNOMON_INPUT."""
    found = {}
    room = VARIABLES_BYTES_MAX
    for name, value in given.items():
        text = _text(value)
        if text is None or not _NAME.fullmatch(name):
            continue
        room -= len(name) + len(text.encode())
        if len(text.encode()) <= VARIABLE_BYTES_MAX and room > 0:
            found[f"GNOMON_PARAM_{name}"] = text
    return found


def _text(value: JSON) -> str | None:
    match value:
        case None | dict() | list():
            return None
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


def _check_environment(env: Mapping[str, str]) -> None:
    for name, value in env.items():
        field = f"payload.env.{name}"
        if not _NAME.fullmatch(name):
            raise InvalidInput(field, "is not a name of letters, digits and underscores.")
        if _FORBIDDEN.fullmatch(name) or name.startswith(_FORBIDDEN_PREFIXES):
            raise InvalidInput(field, "changes how programs are run, and is not for a job to set.")
        check_text(value, field=field)
        if len(value.encode()) > VARIABLE_BYTES_MAX:
            raise InvalidInput(field, f"longer than {VARIABLE_BYTES_MAX} bytes; use `arguments`.")
