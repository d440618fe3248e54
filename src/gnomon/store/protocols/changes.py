"""Changes of running executions, as the store is asked to write them, and what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from gnomon.core.executions.lease import Claim, Leased
from gnomon.core.executions.lifecycle import Change


class Applied(StrEnum):
    """What became of a change that a worker or the reaper asked for."""

    APPLIED = "applied"
    REPLAYED = "replayed"  # This very change was applied before; the first reply was lost.
    LOST = "lost"  # The claim is no longer current. Nothing was changed.


class Decision(NamedTuple):
    """A change and the claim that entitles to it."""

    claim: Claim
    change: Change
    # A task of a workflow: its run is locked first. Who does not say so is asked to wait a little longer.
    in_run: bool = False


class Handover(NamedTuple):
    """What became of decisions, and what was claimed with them: None if that was not tried, or in vain.

    `more`: somebody may find work, since not all that follows the decisions was claimed.
    """

    applied: Sequence[Applied]
    leased: Sequence[Leased] | None
    more: bool
