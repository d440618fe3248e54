"""Callers of an API whose nodes come and go: a POST with a key is asked again until it is answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from uuid import UUID

from tests.kills.line import ANSWER_SECONDS_MAX, NO_ANSWER, Answer, Line

INSIST_SECONDS_MAX = 60.0
PAUSE_SECONDS = 0.02
# Some callers give up soon, so that their next try meets the one before on its way.
IMPATIENT_SHARE = 0.1
IMPATIENT_SECONDS = (0.001, 0.02)
JOB = {"kind": "dummy", "payload": {"output": 7}}

Told = tuple[str, str]
"""The name of a job, and its id."""


@dataclass
class Post:
    name: str
    tries: int = 0
    is_acknowledged: bool = False  # Before the kill.
    is_struck: bool = False  # In flight at the kill, and without an answer.
    is_timed_out: bool = False
    is_done_unheard: bool = False
    job_id: str | None = None
    refusal: str | None = None

    @property
    def told(self) -> Told | None:
        """What its caller knows, once it was answered."""
        return None if self.job_id is None else (self.name, self.job_id)


@dataclass
class Stage:
    """What all callers of a round know."""

    acknowledged_wanted: int = 1
    acknowledged: int = 0
    struck_at: float | None = None  # In seconds since 1970, to be compared with ids of jobs.
    is_warm: asyncio.Event = field(default_factory=asyncio.Event)  # As many are acknowledged as wanted.
    is_open: asyncio.Event = field(default_factory=asyncio.Event)  # Some node listens.

    def __post_init__(self) -> None:
        self.is_open.set()

    @property
    def is_struck(self) -> bool:
        return self.struck_at is not None

    def acknowledge(self) -> None:
        self.acknowledged += 1
        if self.acknowledged >= self.acknowledged_wanted:
            self.is_warm.set()


@dataclass
class Caller:
    """One POST after the other, each with a key of its own, until the kill. There is a line to each node."""

    stage: Stage
    name: str
    lines: Sequence[Line]
    next_line: int
    random: Random
    posts: list[Post] = field(default_factory=list)

    async def post_until_struck(self) -> None:
        while not self.stage.is_struck:
            post = Post(f"{self.name} {len(self.posts)}")
            self.posts.append(post)
            await self.insist(post)

    async def insist(self, post: Post) -> None:
        """The same call with the same key, at one node after the other, until there is an answer."""
        end = time.monotonic() + INSIST_SECONDS_MAX
        while time.monotonic() < end:
            was_struck = self.stage.is_struck
            answer = await self._ask(post)
            if answer is not None:
                self._note(post, answer)
                return
            post.is_struck |= self.stage.is_struck and not was_struck
            await self._pause(post)
        raise AssertionError(f"{post.name}: no answer within {INSIST_SECONDS_MAX:g} s")

    async def _ask(self, post: Post) -> Answer | None:
        line = self.lines[self.next_line % len(self.lines)]
        patience = self._patience_seconds(post)
        post.tries += 1
        try:
            answer = await line.post(
                "/v1/jobs",
                {"name": post.name, **JOB},
                idempotency_key=f"key of {post.name}",
                patience_seconds=patience,
            )
        except NO_ANSWER as error:
            post.is_timed_out |= isinstance(error, TimeoutError)
        else:
            if not answer.says_ask_again:
                return answer
        self.next_line += 1
        return None

    def _patience_seconds(self, post: Post) -> float:
        is_impatient = post.tries == 0 and self.random.random() < IMPATIENT_SHARE
        return self.random.uniform(*IMPATIENT_SECONDS) if is_impatient else ANSWER_SECONDS_MAX

    async def _pause(self, post: Post) -> None:
        """None before the second try: it shall come while the first may still be under way."""
        if post.tries > 1:
            await asyncio.sleep(PAUSE_SECONDS)
        # Knocking at closed doors would take the time that the nodes need to start.
        await self.stage.is_open.wait()

    def _note(self, post: Post, answer: Answer) -> None:
        if not answer.is_created:
            post.refusal = f"{answer.status} {answer.body}"
            return
        post.job_id = str(answer.body["job_id"])
        struck_at = self.stage.struck_at
        if struck_at is None:
            post.is_acknowledged = True
            self.stage.acknowledge()
        elif post.is_struck:
            post.is_done_unheard = _made_at(post.job_id) < struck_at


def _made_at(job_id: str) -> float:
    """An id begins with the time, in milliseconds since 1970."""
    return (UUID(job_id).int >> 80) / 1000
