"""Power cuts under an SQLite file. Two hundred of them: `make power-cuts`."""

from __future__ import annotations

import shutil

import pytest

from proof.campaign.power.cuts import cuts, traced

CUTS, CALLS = 12, 700

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler here")


def test_what_was_acknowledged_survives_a_power_cut() -> None:
    steps = traced(CALLS)
    found = list(cuts(steps, CUTS, seed=len(steps)))

    assert [one for one in found if not one.is_clean] == []
    assert found[-1].acknowledged > 100
    # A cut in the middle of a checkpoint is the interesting one, so there must be some.
    assert sum(step.what == "sync" and step.name == "gnomon.db" for step in steps) > 2


def test_a_disk_that_does_not_sync_is_found_out() -> None:
    steps = traced(60, is_deaf=True)
    assert any(not one.is_clean for one in cuts(steps, CUTS, seed=1))
