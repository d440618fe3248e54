"""Decisions about executions in workers' hands, as the batch `change` that statements read."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.lifecycle import Change
from gnomon.store.databases.database import Rows
from gnomon.store.databases.rows import document_text

_ENDING = ("execution_id", "claim", "outcome", "last_attempt", "attempts", "result")
_UNIFORM = frozenset({"outcome", "last_attempt", "attempts"})
_CHANGE = (
    *_ENDING, "crashes", "due", "failure_kind", "failure_message", "dead", "expired_at",
    "waits_for", "waits_for_uncounted", "if_cancelled",
)  # fmt: skip


def ending_rows(decisions: Sequence[Decision]) -> Rows:
    rows = [
        (*claim, change.status, change.attempt, change.attempts, document_text(change.result))
        for claim, change, _ in decisions
    ]
    return Rows("change", _ENDING, rows, _UNIFORM)


def change_rows(decisions: Sequence[Decision]) -> Rows:
    endings = ending_rows(decisions).rows
    rows = [(*ending, *_more(one.change)) for ending, one in zip(endings, decisions, strict=True)]
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
