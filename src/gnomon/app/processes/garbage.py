"""How a process of ours collects garbage: seldom, and never what it was born with."""

from __future__ import annotations

import gc

# Hundreds of attempts live at a time, each of a dozen objects, and nearly all of them die without a cycle.
# With Python's own 700, a busy worker looks through everything many times a second, a fifth of its time.
YOUNG_MAX = 20_000


def collect_seldom() -> None:
    """For a process that is ours: once, when everything is imported."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_MAX, *gc.get_threshold()[1:])
