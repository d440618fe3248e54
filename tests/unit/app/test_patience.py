"""A process that starts waits for its store, and says so."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

import pytest

from gnomon.app.processes.patience import patiently
from gnomon.errors import StoreRefused, StoreUnavailable

PATIENCE = timedelta(milliseconds=150)


class Store:
    """Raises each of these once, and is there then."""

    def __init__(self, *troubles: Exception) -> None:
        self.troubles = list(troubles)
        self.asked = 0

    async def open(self) -> str:
        self.asked += 1
        if self.troubles:
            raise self.troubles.pop(0)
        return "open"


async def test_a_store_that_comes_late_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    store = Store(StoreUnavailable("nobody is there"))
    with caplog.at_level(logging.INFO):
        assert await patiently("the database x", store.open, patience=timedelta(minutes=1)) == "open"

    assert "waiting for the database x, for 0 of 60 s: nobody is there" in caplog.messages
    assert "the database x answers, after 0 s" in caplog.messages


async def test_patience_ends(caplog: pytest.LogCaptureFixture) -> None:
    store = Store(*(StoreUnavailable("nobody is there") for _ in range(1000)))
    with pytest.raises(StoreUnavailable, match=r"^Waited 0\.15 s for the database x: nobody is there\. "):
        await patiently("the database x", store.open, patience=PATIENCE)
    assert len(caplog.messages) == 1  # One line in five seconds.


async def test_without_patience_the_first_answer_counts() -> None:
    store = Store(StoreUnavailable("nobody is there"))
    with pytest.raises(StoreUnavailable, match=r"^nobody is there$"):
        await patiently("the database x", store.open, patience=timedelta(0))
    assert store.asked == 1


@pytest.mark.parametrize("refusal", [lambda: StoreRefused("no"), lambda: RuntimeError("a bug")])
async def test_what_waiting_does_not_mend_is_raised_at_once(refusal: Callable[[], Exception]) -> None:
    store = Store(refusal())
    with pytest.raises(type(store.troubles[0])):
        await patiently("the database x", store.open, patience=timedelta(minutes=1))
    assert store.asked == 1
