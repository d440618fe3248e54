"""When a task may begin, from how many of its parents have ended and how. Counters are all it looks at."""

from __future__ import annotations

from enum import StrEnum, auto
from typing import assert_never

from gnomon.core.values.choices import Choice


class TriggerRule(Choice):
    ALL_SUCCESS = "all_success"  # Every parent succeeded.
    ALL_DONE = "all_done"  # Every parent has ended, somehow.
    ONE_SUCCESS = "one_success"  # A parent succeeded. Does not wait for the others.
    ONE_FAILED = "one_failed"  # A parent failed. Does not wait for the others.
    NONE_FAILED = "none_failed"  # Every parent has ended, and none failed: the place where branches join.


class Ending(StrEnum):
    """How a parent's end counts for those that wait for it."""

    SUCCESS = auto()
    FAILURE = auto()  # It failed, was cancelled, or could not run because of a failure before it.
    SKIP = auto()  # Its branch was not taken. Nothing went wrong.


class Verdict(StrEnum):
    WAIT = auto()
    RUN = auto()
    SKIP = auto()  # A branch that is not taken.
    BLOCK = auto()  # A failure stands in the way.


def verdict(rule: TriggerRule, *, parents: int, left: int, failed: int, skipped: int) -> Verdict:
    """Decide about a task that waits. `left`, `failed` and `skipped` count its parents.

    A task is refused only when all its parents have ended: until then the answer to a failure may be a retry.
    """
    assert left >= 0
    assert parents - left - failed - skipped >= 0
    succeeded = parents - left - failed - skipped
    is_early = (rule is TriggerRule.ONE_SUCCESS and succeeded) or (rule is TriggerRule.ONE_FAILED and failed)
    if is_early:
        return Verdict.RUN
    if left:
        return Verdict.WAIT
    match rule:
        case TriggerRule.ALL_DONE:
            return Verdict.RUN
        case TriggerRule.ONE_FAILED:
            return Verdict.SKIP
        case TriggerRule.NONE_FAILED:
            return Verdict.BLOCK if failed else Verdict.RUN
        case TriggerRule.ALL_SUCCESS | TriggerRule.ONE_SUCCESS:
            if failed:
                return Verdict.BLOCK
            return Verdict.SKIP if skipped else Verdict.RUN
        case _:
            assert_never(rule)
