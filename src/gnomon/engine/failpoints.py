"""Named places where a test may kill, stop or delay this process. Without a test they do nothing.

`GNOMON_FAILPOINTS="claim.after=kill,apply.before=stop@3"` arms two of them: the first at its first pass, the
second at its third.
"""

from __future__ import annotations

import signal
from collections import Counter
from enum import StrEnum

from gnomon.errors import InvalidInput


class At(StrEnum):
    CLAIM_BEFORE = "claim.before"
    CLAIM_AFTER = "claim.after"
    START_BEFORE = "start.before"
    START_AFTER = "start.after"
    RUN_AFTER = "run.after"
    APPLY_BEFORE = "apply.before"
    APPLY_AFTER = "apply.after"
    RENEW_BEFORE = "renew.before"
    RENEW_AFTER = "renew.after"
    CHECKPOINT_AFTER = "checkpoint.after"
    FIRE_BEFORE = "fire.before"
    FIRE_AFTER = "fire.after"
    REAP_BEFORE = "reap.before"
    REAP_AFTER = "reap.after"


_SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}
_armed: dict[At, tuple[signal.Signals, int]] = {}
_passes: Counter[At] = Counter()


def arm(text: str) -> None:
    """Read the variable GNOMON_FAILPOINTS. Called once, when a process starts."""
    for part in filter(None, text.split(",")):
        name, _, action = part.partition("=")
        word, _, at_pass = action.partition("@")
        if name not in list(At) or word not in _SIGNALS or not (at_pass or "1").isdigit():
            raise InvalidInput(
                "GNOMON_FAILPOINTS",
                f"{part!r} is not <place>=kill|stop[@pass]; places: {', '.join(At)}.",
            )
        _armed[At(name)] = (_SIGNALS[word], int(at_pass or 1))


def failpoint(at: At) -> None:
    if _armed and at in _armed:
        _passes[at] += 1
        what, at_pass = _armed[at]
        if _passes[at] == at_pass:
            signal.raise_signal(what)
