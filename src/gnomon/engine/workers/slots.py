"""The slots of a worker: what runs in them, who asks to fill them, and what has ended but is not written yet.

A worker fills its slots, and its completer writes down what became of what ran. Both know the slots, and
neither knows the other. A completer that writes the end of a task may ask for what follows it in the same
call, in place of the worker. Only one of them asks at a time, so no slot is filled twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum, auto
from itertools import islice
from typing import NamedTuple, Protocol

from gnomon.core.executions.lease import Claim, ClaimRequest, Leased
from gnomon.core.executions.lifecycle import Outcome
from gnomon.engine.service import Wakeup
from gnomon.engine.workers.attempts import Attempt

CLAIM_MAX = 500  # Per step, so that starting what was claimed does not hold up the rest for long.
# With so much unwritten, a worker takes nothing new: the store is slower than the jobs.
BEHIND = 2000


class Asked(Enum):
    """By whom `Slots.request` was sent."""

    NOT = auto()  # There is none.
    BY_WORKER = auto()  # If no answer comes, the worker sends it again: it may have claimed.
    BY_COMPLETER = auto()
    BY_COMPLETER_FIRST = auto()  # The worker came while the completer asked, and wants to ask next.


class Ended(NamedTuple):
    leased: Leased
    outcome: Outcome


class Filler(Protocol):
    """What asks for work, and begins what was claimed. See Worker."""

    async def may_ask(self) -> bool: ...

    def new_request(self) -> ClaimRequest: ...

    async def accept(self, leased: Sequence[Leased]) -> None:
        """Begin these. Says `answered` as soon as nothing of them can be lost."""

    def written(self) -> None:
        """Some outcomes are in the store."""


class Slots:
    def __init__(self, total: int) -> None:
        self.total = total
        self.to_fill = Wakeup()  # There may be room, or work.
        self.to_write = Wakeup()  # Something has ended.
        self.attempts: dict[Claim, Attempt] = {}
        self.request: ClaimRequest | None = None  # Sent, and not answered.
        self.asked = Asked.NOT
        # Whether the last request took all that waited: then mostly nothing waits.
        self.found_all = False
        self._filler: Filler | None = None
        self._ended: deque[Ended] = deque()
        self._in_writing: list[Leased] = []

    def filled_by(self, filler: Filler) -> None:
        self._filler = filler

    @property
    def free(self) -> int:
        return min(self.total - len(self.attempts), CLAIM_MAX)

    # Filling -------------------------------------------------------------------------------------------

    @property
    def is_asked_by_completer(self) -> bool:
        return self.asked in (Asked.BY_COMPLETER, Asked.BY_COMPLETER_FIRST)

    @property
    def repeated(self) -> ClaimRequest | None:
        """The request without an answer, to be sent again."""
        return None if self.request is None else replace(self.request, is_repeat=True)

    def ask(self, request: ClaimRequest) -> None:
        """The worker asks."""
        assert not self.is_asked_by_completer, "one of them asks at a time"
        self.request = request
        self.asked = Asked.BY_WORKER

    def wait_for_completer(self) -> None:
        """The worker wants to ask. If the completer does just now, the worker is woken after that."""
        if self.asked is Asked.BY_COMPLETER:
            self.asked = Asked.BY_COMPLETER_FIRST

    async def ask_with_ends(self) -> ClaimRequest | None:
        """The completer asks for all free slots. The worker leaves them alone until `fill` or `lose`."""
        if self._filler is None or not await self._filler.may_ask() or self.request is not None:
            return None
        self.request = self._filler.new_request()
        self.asked = Asked.BY_COMPLETER
        return self.request

    async def fill(self, leased: Sequence[Leased]) -> None:
        """What the completer got, perhaps nothing."""
        assert self._filler is not None
        await self._filler.accept(leased)

    def answered(self, found: int) -> None:
        assert self.request is not None
        if found >= self.request.limit:
            self.found_all = False
        elif self.asked is Asked.BY_WORKER:
            self.found_all = True
        if self.asked is Asked.BY_COMPLETER_FIRST:
            self.to_fill.set()
        self.request, self.asked = None, Asked.NOT

    def lose(self) -> None:
        """The completer got no answer: the worker asks again."""
        if self.request is not None:
            self.asked = Asked.BY_WORKER
        self.to_fill.set()

    # Writing -------------------------------------------------------------------------------------------

    def end(self, leased: Leased, outcome: Outcome) -> None:
        self._ended.append(Ended(leased, outcome))
        self.to_write.set()

    def take_ended(self, *, limit: int) -> Sequence[Ended]:
        """To write them. They count as unwritten until `written`."""
        assert not self._in_writing, "the last ones are not written yet"
        ended = list(islice(self._ended, limit))
        # In this order: the thread that renews them must find each at any time.
        self._in_writing = [one.leased for one in ended]
        for _ in ended:
            self._ended.popleft()
        return ended

    def written(self) -> None:
        self._in_writing = []
        if self._filler is not None:
            self._filler.written()

    @property
    def in_writing(self) -> Sequence[Leased]:
        return self._in_writing

    def unwritten(self) -> Sequence[Claim]:
        """For any thread to ask."""
        return [one.claim for one in (*self._in_writing, *(ended.leased for ended in list(self._ended)))]

    @property
    def is_behind(self) -> bool:
        return len(self._ended) > BEHIND

    @property
    def has_ended(self) -> bool:
        """Whether something waits to be taken."""
        return bool(self._ended)

    @property
    def is_all_written(self) -> bool:
        return not self._ended and not self._in_writing
