"""What the kernel says about a process, and what of that is a fault of the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from proof.campaign import clock
from proof.campaign.cluster.vitals import LOOK_EVERY, STILL_SECONDS, Schedule, Vitals
from proof.campaign.plan import Kind
from proof.checker.history import events
from proof.checker.history.files import History, Moment, read

SOURCE = "w1/1"


class Process:
    """As the kernel shows one, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.says(0, 0)

    def says(self, waited: float, turns: int, state: str = "S") -> None:
        (self.folder / "schedstat").write_text(f"12345 {int(waited * 1e9)} {turns}\n")
        (self.folder / "stat").write_text(f"1 (gnomon) worker) {state} 1 1\n")
        (self.folder / "wchan").write_text("futex_wait_queue")
        (self.folder / "syscall").write_text("202 0x7f\n")


@pytest.fixture
def process(tmp_path: Path) -> Process:
    folder = tmp_path / "1"
    folder.mkdir()
    return Process(folder)


@pytest.fixture
def vitals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vitals]:
    monkeypatch.setenv(clock.AHEAD, "0.0")
    history = History(tmp_path / "machine.jsonl", "machine", now=clock.now)
    yield Vitals({}, history)
    history.close()


def told(tmp_path: Path) -> list[events.AnyEvent]:
    return read([tmp_path / "machine.jsonl"])


def test_the_kernel_counts_for_this_process() -> None:
    found = Schedule.of(Path("/proc") / str(os.getpid()))
    assert found is not None
    assert found.turns > 0
    assert Schedule.of(Path("/proc/0")) is None


def test_who_gets_no_processor_is_broken_from_when_it_began_to_wait(
    tmp_path: Path, process: Process, vitals: Vitals
) -> None:
    vitals.look(SOURCE, process.folder)
    process.says(0.4, 10)
    vitals.look(SOURCE, process.folder)
    assert not told(tmp_path)

    process.says(3.4, 11)
    vitals.look(SOURCE, process.folder)
    begin, end = told(tmp_path)
    assert isinstance(begin, events.FaultBegin)
    assert isinstance(end, events.FaultEnd)
    assert (begin.kind, begin.target) == (end.kind, end.target) == (Kind.STARVED, SOURCE)
    assert begin.wall is not None
    assert end.wall is not None
    assert end.wall - begin.wall >= timedelta(seconds=3 + LOOK_EVERY)
    assert not vitals.still


@pytest.mark.parametrize(("state", "is_kept"), [("S", True), ("D", True), ("T", False)])
def test_who_stands_still_for_another_reason_is_not_broken_and_the_reason_is_kept(
    tmp_path: Path,
    process: Process,
    vitals: Vitals,
    monkeypatch: pytest.MonkeyPatch,
    state: str,
    is_kept: bool,
) -> None:
    moment = clock.now()
    for seconds in (0.0, STILL_SECONDS / 2, STILL_SECONDS):
        later = Moment(moment.wall + timedelta(seconds=seconds), moment.mono + seconds)
        monkeypatch.setattr(clock, "now", lambda later=later: later)
        process.says(0, 10, state)
        vitals.look(SOURCE, process.folder)

    assert not told(tmp_path)
    assert ("futex_wait_queue, call 202" in vitals.still.get(SOURCE, "")) == is_kept
