"""`make sim`, as a program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from msgspec.structs import replace

from proof.simulator.scenarios.behaviour import Behaviour
from proof.simulator.scenarios.scenario import JobSpec, Scenario, write_scenario
from proof.simulator.seeds.profiles import draw
from tests.house.tree import ROOT

SEED = "7"


def sim(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "proof.simulator", *words],
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_worlds_follow_from_the_first_seed_and_are_added_up() -> None:
    done = sim("--seeds", "2", "--hours", "0.1", "--seed", SEED, "--processes", "1")

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("seeds 7 to 8, 0.1 h each, profile swarm\n")
    assert "0.2 simulated hours in" in done.stdout
    assert "0 failures" in done.stdout


def test_a_world_is_told_again_event_by_event() -> None:
    words = ("--replay", SEED, "--hours", "0.1")
    judged = sim(*words)
    told = sim(*words, "--trace")
    stopped = sim(*words, "--trace", "--until", "60")

    assert (judged.returncode, told.returncode, stopped.returncode) == (0, 0, 0)
    *events, last = told.stdout.splitlines()
    assert judged.stdout.splitlines()[0] == f"seed {SEED}: {last}"
    assert "events, and nothing is wrong with them" in judged.stdout
    assert 0 < len(stopped.stdout.splitlines()) < len(events)


def test_a_broken_promise_is_told_with_how_to_see_it_again(tmp_path: Path) -> None:
    write_scenario(a_world_without_workers(), tmp_path / "world.json")

    done = sim("--replay", tmp_path / "world.json")

    assert done.returncode == 1
    assert "SIM FAIL seed=7 profile=calm rules=" in done.stdout
    assert "replay: make sim REPLAY=7 HOURS=" in done.stdout


def a_world_without_workers() -> Scenario:
    """Its job fires, and nothing ever runs it. That is wrong, whatever the seed."""
    scenario = draw(int(SEED), hours=0.3, profile="calm")
    nodes = tuple(node for node in scenario.nodes if node.role != "worker")
    jobs = (JobSpec(name="job", every=30.0, behaviour=Behaviour()),)
    return replace(scenario, nodes=nodes, jobs=jobs, flows=(), acts=())


def test_a_profile_that_does_not_exist_is_wrong_usage() -> None:
    done = sim("--profile", "quiet", "--seeds", "1")
    assert done.returncode == 2
    assert "'quiet' is not one of swarm, storm" in done.stderr


def test_it_teaches_itself() -> None:
    told = sim("--help").stdout
    for word in ("--seeds", "--replay", "--until", "--trace", "--shrink-into", "swarm", "make sim"):
        assert word in told
