"""A change of a running execution, with the claim that entitles to it."""

from __future__ import annotations

from typing import NamedTuple

from gnomon.core.executions.lease import Claim
from gnomon.core.executions.lifecycle import Change


class Decision(NamedTuple):
    """`in_run`: the execution is a task of a workflow, whose run is locked before its lease.

    A caller that does not know that leaves it out, and waits a little longer for the answer.
    """

    claim: Claim
    change: Change
    in_run: bool = False
