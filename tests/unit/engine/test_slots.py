"""Who may fill the slots of a worker, and what is in them until it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from gnomon.core.executions.execution import ExecutionId, WorkerId
from gnomon.core.executions.lease import Claim, ClaimRequest, Leased
from gnomon.core.executions.lifecycle import Succeeded
from gnomon.engine.service import Wakeup
from gnomon.engine.workers.slots import BEHIND, Asked, Slots
from tests.unit.core.builders import leased


def request(number: int = 1, *, limit: int = 2) -> ClaimRequest:
    return ClaimRequest(UUID(int=number), WorkerId("ada"), frozenset({"test"}), limit=limit)


def held(number: int) -> Leased:
    return leased()._replace(claim=Claim(ExecutionId(UUID(int=number)), 1))


def is_set(wakeup: Wakeup) -> bool:
    return wakeup._is_set


@dataclass
class Ada:
    """A worker that does as it is told."""

    slots: Slots
    is_ready: bool = True
    began: list[Leased] = field(default_factory=list)
    told: int = 0

    async def may_ask(self) -> bool:
        return self.is_ready and not self.slots.is_asked_by_completer

    def new_request(self) -> ClaimRequest:
        return request(7)

    async def accept(self, leased: Sequence[Leased]) -> None:
        self.slots.answered(len(leased))
        self.began += leased

    def written(self) -> None:
        self.told += 1


@pytest.fixture
def ada() -> Ada:
    slots = Slots(4)
    ada = Ada(slots)
    slots.filled_by(ada)
    return ada


def test_a_request_without_an_answer_is_asked_again_as_it_was(ada: Ada) -> None:
    slots = ada.slots
    before = slots.repeated
    slots.ask(request())
    unanswered = slots.repeated
    slots.answered(0)
    after = slots.repeated

    assert (before, after, slots.asked) == (None, None, Asked.NOT)
    assert unanswered is not None
    assert (unanswered.id, unanswered.is_repeat) == (request().id, True)


@pytest.mark.parametrize(("found", "found_all"), [(0, True), (1, True), (2, False)])
def test_a_worker_that_gets_less_than_it_asked_for_has_found_all(
    ada: Ada, found: int, found_all: bool
) -> None:
    ada.slots.ask(request(limit=2))
    ada.slots.answered(found)

    assert ada.slots.found_all is found_all


async def test_what_a_completer_gets_says_only_that_more_may_wait(ada: Ada) -> None:
    slots = ada.slots
    await slots.ask_with_ends()
    await slots.fill([])
    found_all = [slots.found_all]  # It looked for what follows, and perhaps not at the queue.

    slots.ask(request())
    slots.answered(0)
    await slots.ask_with_ends()
    await slots.fill([held(1)])
    found_all.append(slots.found_all)
    await slots.ask_with_ends()
    await slots.fill([held(2), held(3)])
    found_all.append(slots.found_all)
    assert found_all == [False, True, False]


async def test_only_one_of_them_asks_at_a_time(ada: Ada) -> None:
    slots = ada.slots
    slots.ask(request())
    assert await slots.ask_with_ends() is None

    slots.answered(0)
    assert await slots.ask_with_ends() == request(7)
    assert slots.is_asked_by_completer
    assert await slots.ask_with_ends() is None
    with pytest.raises(AssertionError):
        slots.ask(request())


async def test_nothing_is_asked_with_ends_for_a_worker_that_may_not_or_does_not_exist(ada: Ada) -> None:
    ada.is_ready = False
    assert await ada.slots.ask_with_ends() is None
    assert await Slots(4).ask_with_ends() is None


async def test_what_the_completer_got_begins_with_the_worker(ada: Ada) -> None:
    await ada.slots.ask_with_ends()
    await ada.slots.fill([held(1)])

    assert ada.began == [held(1)]
    assert (ada.slots.asked, ada.slots.request) == (Asked.NOT, None)
    assert not is_set(ada.slots.to_fill)


async def test_a_worker_that_came_meanwhile_is_woken_afterwards(ada: Ada) -> None:
    await ada.slots.ask_with_ends()
    ada.slots.wait_for_completer()
    assert not is_set(ada.slots.to_fill)

    await ada.slots.fill([])

    assert is_set(ada.slots.to_fill)
    assert ada.slots.asked is Asked.NOT


def test_a_worker_that_waits_for_other_reasons_waits_for_no_completer(ada: Ada) -> None:
    ada.slots.wait_for_completer()
    ada.slots.ask(request())
    ada.slots.answered(0)

    assert not is_set(ada.slots.to_fill)


async def test_what_a_completer_asked_in_vain_is_asked_again_by_the_worker(ada: Ada) -> None:
    await ada.slots.ask_with_ends()
    ada.slots.lose()

    assert (ada.slots.asked, is_set(ada.slots.to_fill)) == (Asked.BY_WORKER, True)
    assert ada.slots.repeated is not None
    assert ada.slots.repeated.id == request(7).id


async def test_an_answer_that_came_is_not_asked_for_again(ada: Ada) -> None:
    """What began could not be told, or the like: the request itself is answered."""
    await ada.slots.ask_with_ends()
    await ada.slots.fill([held(1)])
    ada.slots.lose()

    assert (ada.slots.asked, ada.slots.request) == (Asked.NOT, None)


def test_what_has_ended_is_renewed_until_it_is_written(ada: Ada) -> None:
    slots = ada.slots
    for number in (1, 2, 3):
        slots.end(held(number), Succeeded())
    assert is_set(slots.to_write)
    claims = [held(number).claim for number in (1, 2, 3)]

    taken = slots.take_ended(limit=2)

    assert [one.leased for one in taken] == [held(1), held(2)] == list(slots.in_writing)
    assert slots.unwritten() == claims
    slots.written()
    assert (slots.unwritten(), ada.told) == (claims[2:], 1)
    assert (slots.has_ended, slots.is_all_written) == (True, False)
    slots.take_ended(limit=2)
    assert (slots.has_ended, slots.is_all_written) == (False, False)
    slots.written()
    assert slots.is_all_written


def test_a_worker_takes_nothing_new_while_too_much_is_unwritten(ada: Ada) -> None:
    for number in range(BEHIND):
        ada.slots.end(held(number), Succeeded())
    assert not ada.slots.is_behind
    ada.slots.end(held(BEHIND), Succeeded())
    assert ada.slots.is_behind
