"""The private folder of one run of a script: what it is given, where it works, what it leaves behind."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gnomon.core.values.document import JSON, check_json
from gnomon.core.values.json_text import parse_json
from gnomon.core.values.limits import RESULT_BYTES_MAX
from gnomon.errors import InvalidInput
from gnomon.handlers.base import JobFailed
from gnomon.handlers.script.remains import PREFIX, WORKABLE, locked, remove
from gnomon.handlers.script.user import User

READABLE = 0o440


@dataclass(frozen=True, slots=True)
class Folder:
    """The outer folder is the worker's: the script can read there, but not put something else in its place.
    The inner one is the script's own.
    """

    outer: Path
    user: User | None
    lock: int  # A descriptor: while it is open, others see that the folder is in use.

    @classmethod
    def made(cls, parent: Path | None, *, user: User | None, given: JSON, script: str | None) -> Folder:
        outer = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        folder = cls(outer, user, locked(outer))
        try:
            if user is not None:
                folder.outer.chmod(0o710)
                os.chown(folder.outer, -1, user.gid)
            folder.work.mkdir(mode=WORKABLE)
            if user is not None:
                os.chown(folder.work, user.uid, user.gid)
            folder._put(folder.input, json.dumps(given, ensure_ascii=False))
            if script is not None:
                folder._put(folder.script, script)
        except BaseException:
            folder.remove()
            raise
        return folder

    @property
    def work(self) -> Path:
        return self.outer / "work"

    @property
    def script(self) -> Path:
        return self.outer / "script"

    @property
    def input(self) -> Path:
        return self.outer / "input.json"

    @property
    def result(self) -> Path:
        return self.work / "result.json"

    def read_result(self) -> JSON:
        """What the script wrote, or that it ended well. It may have put anything there: believe nothing."""
        try:
            text = self._result_text()
            if text is None:
                return {"exit_code": 0}
            result = parse_json(text.decode(json.detect_encoding(text)), field="result")
            check_json(result, field="result")
        except (OSError, ValueError, RecursionError, InvalidInput) as error:
            raise JobFailed(
                f"The file GNOMON_RESULT holds no result: {error}", kind="bad_result", permanent=True
            ) from error
        return result

    def remove(self) -> None:
        """Returns when nothing is left to try."""
        try:
            remove(self.outer, is_of_script=self.user is None)
        finally:
            os.close(self.lock)

    def _put(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        if self.user is not None:
            os.chown(path, -1, self.user.gid)
        path.chmod(READABLE)

    def _result_text(self) -> bytes | None:
        try:
            descriptor = os.open(self.result, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode):
                raise OSError("it is not a plain file.")
            if self.user is not None and facts.st_uid != self.user.uid:
                raise OSError("it belongs to somebody else.")
            text = file.read(RESULT_BYTES_MAX + 1)
        if len(text) > RESULT_BYTES_MAX:
            raise ValueError(f"it is longer than {RESULT_BYTES_MAX} bytes.")
        return text
