"""SIGKILL and SIGSTOP at the worst moments: every execution comes to its end, and no write of a dead counts."""

from __future__ import annotations

import signal
import time

import pytest

from gnomon.core.execution import ExecutionStatus
from gnomon.engine.failpoints import At
from tests.acceptance.engine.processes import Cluster

LEASE_SECONDS = 5
# With a lease of 5 s instead of 20 s; the promise is 30 s with the default.
RECLAIMED_WITHIN_SECONDS = 15
WORKER_FAILPOINTS = [
    At.CLAIM_BEFORE,
    At.CLAIM_AFTER,
    At.START_BEFORE,
    At.START_AFTER,
    At.RUN_AFTER,
    At.APPLY_BEFORE,
    At.APPLY_AFTER,
    At.RENEW_BEFORE,
    At.RENEW_AFTER,
]


@pytest.mark.parametrize("place", WORKER_FAILPOINTS)
async def test_a_worker_killed_anywhere_loses_nothing(cluster: Cluster, place: At) -> None:
    await (await cluster.scheduler()).says("is up")
    job = await cluster.job("touch", sink=str(cluster.sink), seconds=0.2)
    [run] = await cluster.enqueue(job)
    dying = await cluster.worker(failpoints=f"{place}=kill")
    assert await dying.ended() == -signal.SIGKILL
    died_at = time.monotonic()

    await (await cluster.worker()).says("is up")
    ended = await cluster.ended(run, patience=RECLAIMED_WITHIN_SECONDS)

    assert ended.status is ExecutionStatus.COMPLETED
    assert time.monotonic() - died_at < RECLAIMED_WITHIN_SECONDS
    accepted = [line for line in cluster.effects(run) if line["claim"] == ended.claim]
    assert [line["what"] for line in accepted] == ["start", "end"]
