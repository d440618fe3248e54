"""Worlds under faults: nothing that Gnomon promises is broken, and the same seed tells the same story."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from proof.simulator.judging.judge import judge, uncovered
from proof.simulator.judging.many_worlds import Tally, judged
from proof.simulator.scenarios.scenario import read_scenario, write_scenario
from proof.simulator.seeds.profiles import PROFILES, STARTS, draw
from tests.code_seed import seed_of_this_code

REGRESSIONS = sorted((Path(__file__).parent / "regressions").glob("*.json"))
# Simulated hours with fresh seeds: a quarter of a minute on two cores. Sixty take two minutes.
HOURS = float(os.environ.get("GNOMON_TEST_SIM_HOURS", "8"))
HOURS_OF_A_THOROUGH_RUN = 60.0
HOURS_PER_SEED = 0.5
SEEN_MIN = 3  # Of everything that must happen. The rarest happens some ten times.


def test_fresh_seeds_break_no_promise() -> None:
    judge_fresh_seeds(HOURS)


@pytest.mark.thorough("60 simulated hours with fresh seeds break no promise, and meet all that must be met")
def test_sixty_hours_of_fresh_seeds_break_no_promise_and_meet_everything() -> None:
    tally = judge_fresh_seeds(HOURS_OF_A_THOROUGH_RUN)

    assert uncovered(tally.coverage, at_least=SEEN_MIN) == [], tally.coverage


def judge_fresh_seeds(hours: float) -> Tally:
    first = int(os.environ.get("GNOMON_TEST_SIM_SEED", "") or seed_of_this_code())
    seeds = range(first, first + max(1, round(hours / HOURS_PER_SEED)))
    tally = Tally()

    for one in judged(seeds, hours=HOURS_PER_SEED, profile="swarm"):
        tally.add(one)
        how = f"make sim REPLAY={one.scenario.seed} HOURS={HOURS_PER_SEED}"
        assert not one.wrong, "\n".join([how, *map(str, one.wrong[:10])])

    return tally


@pytest.mark.parametrize("place", REGRESSIONS, ids=lambda place: place.stem)
def test_what_failed_once_does_not_fail_again(place: Path) -> None:
    assert [str(one) for one in judge(read_scenario(place)).wrong] == []


def test_the_same_seed_tells_the_same_story_whatever_hashes_are() -> None:
    assert draw(9, hours=0.2, profile="storm").flows
    program = (
        "from proof.simulator.judging.many_worlds import judge_seed\n"
        "print(judge_seed(9, 0.2, 'storm').digest)"
    )
    stories = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(stories) == 1
    assert stories != {draw_digest(8)}


def draw_digest(seed: int) -> str:
    return judge(draw(seed, hours=0.2, profile="storm")).digest + "\n"


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_every_profile_draws_a_world_that_works(profile: str) -> None:
    scenario = draw(1, hours=0.2, profile=profile)

    found = judge(scenario)

    assert [str(one) for one in found.wrong] == []
    assert found.runs > 0
    assert bool(found.faults) == (profile != "calm")


def test_a_scenario_can_be_written_down(tmp_path: Path) -> None:
    scenario = draw(3, hours=0.2)
    write_scenario(scenario, tmp_path / "one.json")
    assert read_scenario(tmp_path / "one.json") == scenario


@pytest.mark.thorough("Every world that begins just before a clock is changed sees the change")
def test_whoever_begins_before_clocks_are_changed_sees_it() -> None:
    """By the job that is there for it, whatever else a seed draws."""
    seen: set[datetime] = set()
    for seed in range(60):
        scenario = draw(seed, hours=0.5, profile="calm")
        if STARTS[scenario.start] is not None and scenario.start not in seen:
            seen.add(scenario.start)
            small = replace(scenario, jobs=scenario.jobs[-1:], acts=())
            judgement = judge(small)
            assert not judgement.wrong
            assert judgement.coverage["DST gap"] + judgement.coverage["DST overlap"], scenario.start
    assert len(seen) == sum(change is not None for change in STARTS.values())
