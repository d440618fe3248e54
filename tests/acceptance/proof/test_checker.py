"""`make judge`, as a program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from proof.checker.history.files import write
from tests.house.tree import ROOT
from tests.unit.proof.checker import cases_runs
from tests.unit.proof.checker.model import small_history
from tests.unit.proof.checker.story import Story


def judge(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "proof.checker", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_history_in_which_all_holds_is_valid(tmp_path: Path) -> None:
    events = small_history(3)
    write(tmp_path / "one.jsonl", events[::2])
    write(tmp_path / "two.jsonl", events[1::2])

    done = judge(tmp_path, "--coverage", "0", "--svg", tmp_path / "pictures")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Verdict: valid ({len(events)} events)\n")
    assert [path.name for path in sorted((tmp_path / "pictures").iterdir())] == ["0001-a.svg", "0002-b.svg"]


def test_a_broken_history_is_told_with_what_stands_around_it(tmp_path: Path) -> None:
    story = Story()
    cases_runs.a_late_writer_is_accepted(story, True)
    write(tmp_path / "bad.jsonl", story.events)

    done = judge(tmp_path / "bad.jsonl")
    assert done.returncode == 1
    assert "L3 run r: `beat` with token 1 was accepted; the holder's is 2.\n" in done.stdout
    assert "  > 2026-06-01T12:01:00+00:00 beat {" in done.stdout

    told = json.loads(judge(tmp_path / "bad.jsonl", "--output", "json").stdout)
    assert told["verdict"] == "invalid"
    assert told["violations"][0]["invariant"] == "L3"
    assert len(told["violations"][0]["around"]) == 5


def test_too_little_is_an_exit_code_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "thin.jsonl", small_history(3))
    done = judge(tmp_path / "thin.jsonl")
    assert done.returncode == 3
    assert "Missing: DST gap: seen 0 times, 1 needed.\n" in done.stdout


def test_what_cannot_be_read_is_wrong_usage(tmp_path: Path) -> None:
    gone = judge(tmp_path / "gone.jsonl")
    assert gone.returncode == 2
    assert gone.stderr.startswith("This is no history: ")
    assert gone.stderr.endswith("gone.jsonl cannot be read: No such file or directory.\n")
    unknown = judge(tmp_path, "--without", "rain")
    assert unknown.returncode == 2
    assert "'rain' is not one of" in unknown.stderr


def test_it_teaches_itself() -> None:
    told = judge("--help").stdout
    for word in (
        "HISTORY",
        "--svg",
        "--coverage",
        "--without",
        "--output",
        "python -m proof.checker",
        "make judge",
    ):
        assert word in told
