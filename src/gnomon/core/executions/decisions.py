"""A change of a running execution, with the claim that entitles to it."""

from __future__ import annotations

from collections.abc import Iterable
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


def are_plain_endings(decisions: Iterable[Decision]) -> bool:
    """Whether nothing is told of failures, dead letters or expiry, and nothing goes back to wait.

    That is so for nearly every batch.
    """
    return all(
        change.due is None
        and change.failure is None
        and change.dead is None
        and change.only_if_expired_at is None
        for _, change, _ in decisions
    )
