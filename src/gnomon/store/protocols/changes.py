"""What became of the decisions that the store was asked to write."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from gnomon.core.executions.lease import Leased


class Applied(StrEnum):
    """What became of a change that a worker or the reaper asked for."""

    APPLIED = "applied"
    REPLAYED = "replayed"  # This very change was applied before; the first reply was lost.
    LOST = "lost"  # The claim is no longer current. Nothing was changed.


class Handover(NamedTuple):
    """What became of decisions, and what was claimed with them: None if that was not tried, or in vain.

    `more`: somebody may find work, since not all that follows the decisions was claimed.
    """

    applied: Sequence[Applied]
    leased: Sequence[Leased] | None
    more: bool
