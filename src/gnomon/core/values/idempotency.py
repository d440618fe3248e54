"""A caller's promise that two calls with one key are one call."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gnomon.errors import InvalidInput

KEY_LENGTH_MAX = 255
_VISIBLE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


@dataclass(frozen=True, slots=True)
class Idempotency:
    """`fingerprint` stands for the request: the same key with another fingerprint is a conflict."""

    key: str
    fingerprint: str

    def __post_init__(self) -> None:
        if len(self.key) > KEY_LENGTH_MAX:
            raise InvalidInput("idempotency_key", f"{len(self.key)} characters; at most {KEY_LENGTH_MAX}.")
        if not _VISIBLE.fullmatch(self.key):
            raise InvalidInput("idempotency_key", "must be visible ASCII characters, at least one.")
