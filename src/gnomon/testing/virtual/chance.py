"""Chance that can be repeated: one seed, and a stream of its own for everything that rolls dice."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from random import Random


@dataclass(frozen=True, slots=True)
class Chance:
    """Streams are told apart by name, so one more draw in one of them leaves all others as they were."""

    seed: int

    def fork(self, name: str) -> Random:
        return Random(self.number(name))  # noqa: S311 - chance that must be repeatable.

    def number(self, name: str) -> int:
        digest = blake2b(f"{self.seed}/{name}".encode(), digest_size=16).digest()
        return int.from_bytes(digest, "big")
