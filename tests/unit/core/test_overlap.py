"""What a fire does while an earlier run is live."""

from __future__ import annotations

import pytest

from gnomon.core.schedules.overlap import Entry, entry
from gnomon.core.time.schedule import Overlap


@pytest.mark.parametrize("policy", Overlap)
def test_without_a_live_run_every_policy_runs(policy: Overlap) -> None:
    assert entry(policy, live=0) is Entry.RUN


@pytest.mark.parametrize(
    ("policy", "decision"),
    [
        (Overlap.ALLOW, Entry.RUN),
        (Overlap.SKIP, Entry.SKIP),
        (Overlap.QUEUE, Entry.WAIT),
        (Overlap.REPLACE, Entry.REPLACE),
    ],
)
@pytest.mark.parametrize("live", [1, 2, 1000])
def test_beside_live_runs_the_policy_decides(policy: Overlap, decision: Entry, live: int) -> None:
    assert entry(policy, live=live) is decision
