"""True time for every process of a campaign, also for those whose wall clock is wrong on purpose.

All processes of a machine share one monotonic clock, which no fault moves. The campaign measures once how far
wall time is ahead of it, and tells everybody.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta

from proof.checker.history.files import Moment

AHEAD = "CAMPAIGN_CLOCK"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def measure() -> None:
    """Called once, by the campaign itself, before it starts anything."""
    os.environ[AHEAD] = repr(time.time() - time.monotonic())


def drift() -> timedelta:
    """How far wall time has moved since. More than a few milliseconds means that somebody set it."""
    return timedelta(seconds=time.time() - time.monotonic() - float(os.environ[AHEAD]))


def now() -> Moment:
    mono = time.monotonic()
    return Moment(_EPOCH + timedelta(seconds=mono + float(os.environ[AHEAD])), mono)
