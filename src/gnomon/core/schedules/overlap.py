"""Whether a fire may run beside the runs of its job that are still live."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

from gnomon.core.time.schedule import Overlap


class Entry(StrEnum):
    """What a fire does when it comes."""

    RUN = "run"  # At once, beside whatever is live.
    SKIP = "skip"  # Not at all; the ledger says so.
    WAIT = "wait"  # As soon as the runs before it have ended, in the order of the due times.
    REPLACE = "replace"  # At once; the live runs are asked to stop first.


def entry(policy: Overlap, *, live: int) -> Entry:
    """What the policy says to a fire that meets `live` unfinished runs of its job."""
    assert live >= 0
    if live == 0:
        return Entry.RUN
    match policy:
        case Overlap.ALLOW:
            return Entry.RUN
        case Overlap.SKIP:
            return Entry.SKIP
        case Overlap.QUEUE:
            return Entry.WAIT
        case Overlap.REPLACE:
            return Entry.REPLACE
        case _:
            assert_never(policy)
