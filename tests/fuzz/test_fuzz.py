"""A short run of `make fuzz`. Its seed follows the code, so that a red run can be repeated."""

from __future__ import annotations

from pathlib import Path

from tests.code_seed import seed_of_this_code
from tests.fuzz.fuzzing import Fuzz, after
from tests.fuzz.node import quiet_node

SECONDS = 12


def test_no_call_gets_an_answer_that_is_not_in_the_description(tmp_path: Path) -> None:
    seed = seed_of_this_code()
    with quiet_node(tmp_path) as (url, key):
        fuzz = Fuzz(url, key, seed, examples=3)
        fuzz.run(until=after(SECONDS))
    assert fuzz.calls.total() > 20, f"seed {seed}: too few calls to mean anything"
