"""What callers were told, what is there, and how the two differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from tests.kills.posting import Post, Told


class Victim(StrEnum):
    NODE = "one node"
    NODES = "both nodes"
    DATABASE = "PostgreSQL"


@dataclass(frozen=True, slots=True)
class Difference:
    """`lost` was acknowledged and is not there; `doubled` is there, and nobody was told."""

    lost: Sequence[Told]
    doubled: Sequence[Told]


def difference(told: Iterable[Told], kept: Iterable[Told]) -> Difference:
    """Every POST has its answer: what is there and was not told of is the second job of some key."""
    told, kept = Counter(told), Counter(kept)
    return Difference(sorted((told - kept).elements()), sorted((kept - told).elements()))


@dataclass
class Tally:
    """A round is one kill with POSTs in flight."""

    rounds: int = 0
    kills: Counter[Victim] = field(default_factory=Counter)
    posts: int = 0
    acknowledged: int = 0  # Before the kill.
    unanswered: int = 0
    timed_out: int = 0  # Of the unanswered: the caller gave up, and nobody had died.
    done_unheard: int = 0  # Of the unanswered: the job was made before the kill.
    retries: int = 0
    lost: set[Told] = field(default_factory=set)
    doubled: set[Told] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.doubled or self.refused)

    def add(self, victim: Victim, posts: Sequence[Post]) -> None:
        self.kills[victim] += 1
        self.rounds += any(post.is_struck for post in posts)
        self.posts += len(posts)
        for post in posts:
            self.acknowledged += post.is_acknowledged
            self.unanswered += post.tries > 1
            self.timed_out += post.is_timed_out
            self.done_unheard += post.is_done_unheard
            self.retries += post.tries - 1
            if post.refusal is not None:
                self.refused.append(f"{post.name}: {post.refusal}")

    def compare(self, told: Iterable[Told], kept: Iterable[Told]) -> None:
        found = difference(told, kept)
        self.lost.update(found.lost)
        self.doubled.update(found.doubled)
