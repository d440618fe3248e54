"""Decisions as the batch that `apply` writes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from gnomon.core.executions.lifecycle import Change
from gnomon.store.databases.database import Rows
from gnomon.store.databases.rows import document_text, is_possible
from gnomon.store.protocols.changes import Decision

_ENDING = ("execution_id", "claim", "outcome", "last_attempt", "attempts", "result")
_CHANGE = (
    *_ENDING, "crashes", "due", "failure_kind", "failure_message", "dead", "expired_at", "waits_for",
    "waits_for_uncounted", "if_cancelled",
)  # fmt: skip
_UNIFORM = frozenset({"outcome", "last_attempt", "attempts"})
_CLAIM = itemgetter(0)


def first_decisions(decisions: Sequence[Decision]) -> list[Decision]:
    """A claim is spent by its first decision; a second one in the same batch is a late one.

    In the order of ids, so that two batches cannot wait for each other.
    """
    by_claim = groupby(sorted(decisions, key=_CLAIM), key=_CLAIM)
    return [next(same) for claim, same in by_claim if is_possible(claim)]


def are_plain_endings(decisions: Sequence[Decision]) -> bool:
    """Whether `apply_endings`, the statement for nearly every batch, can write them."""
    return all(
        change.due is None
        and change.failure is None
        and change.dead is None
        and change.only_if_expired_at is None
        for _, change, _ in decisions
    )


def ending_rows(decisions: Sequence[Decision]) -> Rows:
    rows = [
        (*claim, change.status, change.attempt, change.attempts, document_text(change.result))
        for claim, change, _ in decisions
    ]
    return Rows("change", _ENDING, rows, _UNIFORM)


def change_rows(decisions: Sequence[Decision]) -> Rows:
    rows = [
        (*ending, *_more(change))
        for ending, (_, change, _) in zip(ending_rows(decisions).rows, decisions, strict=True)
    ]
    return Rows("change", _CHANGE, rows, _UNIFORM)


def _more(change: Change) -> tuple[object, ...]:
    return (
        change.crashes or None,  # NULL reads as 0, and a column of NULLs is not sent.
        change.due,
        change.failure.kind if change.failure else None,
        change.failure.message if change.failure else None,
        change.dead,
        change.only_if_expired_at,
        change.waits_for,
        change.waits_for_uncounted,
        change.if_cancelled,
    )
