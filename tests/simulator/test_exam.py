"""What the exam of the simulator needs of the product. The exam itself takes longer: `make sim-exam`."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.exam.bugs import BUGS
from proof.exam.planting import Bug, DoesNotApply, bug, plant

BUGS_MIN = 40


@pytest.mark.parametrize("one", BUGS, ids=lambda one: one.name)
def test_every_bug_can_still_be_planted(one: Bug, tmp_path: Path) -> None:
    plant(one, tmp_path / "src")


def test_a_bug_that_the_product_has_outgrown_is_told(tmp_path: Path) -> None:
    gone = bug("gone", "engine/workers/worker.py", "text that is not there", "")

    with pytest.raises(DoesNotApply, match="worker"):
        plant(gone, tmp_path / "src")


def test_there_are_bugs_enough_and_none_twice() -> None:
    assert len({one.name for one in BUGS}) == len(BUGS) >= BUGS_MIN
    assert len({one.edits for one in BUGS}) == len(BUGS)
