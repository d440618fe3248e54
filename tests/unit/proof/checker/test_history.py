"""Histories as files: what is written is read, and what was torn is not."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from proof.checker.history.events import Alive, Effect, SchedSet, Start, name_of
from proof.checker.history.files import History, InvalidHistory, Moment, line, read, write
from tests.unit.proof.checker.model import small_history

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    events = small_history(5)
    write(tmp_path / "all.jsonl", events)
    assert read([tmp_path / "all.jsonl"]) == events


def test_a_writer_numbers_its_events_and_tells_their_times(tmp_path: Path) -> None:
    history = History(tmp_path / "w.jsonl", "w/1", now=lambda: Moment(NOON, 7.5))
    history.write(Start, run="r", attempt=1, token=1)
    history.write(Alive)
    history.close()

    assert read([tmp_path / "w.jsonl"]) == [
        Start(src="w/1", n=1, wall=NOON, mono=7.5, run="r", attempt=1, token=1),
        Alive(src="w/1", n=2, wall=NOON, mono=7.5),
    ]


def test_a_torn_last_line_was_never_said(tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl"
    first, second = (line(Alive(src="w/1", n=n)) for n in (1, 2))
    path.write_bytes(first + second[:-9])
    assert read([path]) == [Alive(src="w/1", n=1)]
    # Torn exactly at the end of its text: it may be shorter than it was to be.
    path.write_bytes(first + second[:-1])
    assert read([path]) == [Alive(src="w/1", n=1)]


def test_several_files_are_one_history(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [Alive(src="a/1", n=1)])
    write(tmp_path / "b.jsonl", [Alive(src="b/1", n=1)])
    assert [event.src for event in read([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])] == ["a/1", "b/1"]


@pytest.mark.parametrize(
    "text",
    [
        '{"event":"dance","src":"w/1","n":1}',
        '{"event":"start","src":"w/1","n":1}',
        '{"event":"alive","src":"w/1","n":1,"wall":"2026-06-01T12:00:00"}',
        "{",
        "[]",
    ],
)
def test_a_line_that_is_no_event_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(line(Alive(src="w/1", n=1)).decode() + text + "\n")
    with pytest.raises(InvalidHistory, match="line 2 is no event"):
        read([path])


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidHistory, match="cannot be read"):
        read([tmp_path / "gone.jsonl"])


def test_a_line_says_only_what_there_is_to_say() -> None:
    event = Effect(src="sink", n=3, run="r", token=2)
    assert line(event) == b'{"event":"effect","src":"sink","n":3,"run":"r","token":2}\n'
    assert name_of(SchedSet(src="store", n=1, job="j", rev=1)) == "sched.set"
