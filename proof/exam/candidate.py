"""One candidate: worlds of the product that is on the path, until one of them is wrong."""

from __future__ import annotations

import gc
import json
import sys
import traceback
from pathlib import Path

import gnomon
from proof.simulator.judging.many_worlds import GC_THRESHOLD, judge_seed


def profile_of(seed: int) -> str:
    """In turn: a storm needs every fence, and quiet hours tell who is late."""
    return ("swarm", "storm")[seed % 2]


def main(folder: str, first: int, count: int, hours: float) -> None:
    assert gnomon.__file__ is not None
    assert Path(gnomon.__file__).is_relative_to(Path(folder)), "the product is not the one with the bug"
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
    for seed in range(first, first + count):
        try:
            wrong = judge_seed(seed, hours, profile_of(seed)).wrong
        except Exception as error:  # Whatever it breaks, it is caught.
            told = {"seed": seed, "rules": [type(error).__name__], "what": traceback.format_exc()}
            sys.stdout.write(json.dumps(told))
            return
        if wrong:
            rules = sorted({one.rule for one in wrong})
            sys.stdout.write(json.dumps({"seed": seed, "rules": rules, "what": str(wrong[0])}))
            return
    sys.stdout.write("null")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
