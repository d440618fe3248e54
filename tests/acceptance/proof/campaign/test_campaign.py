"""A short campaign with every kind of fault that this machine allows. The long one: `make campaign`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
MINUTES = "0.9"
SECONDS_MAX = 300
WORKFLOWS = [f"G{number}" for number in range(1, 9)]


@pytest.mark.thorough(
    "A campaign of one minute on real processes, with every fault that is there, breaks nothing"
)
def test_a_short_campaign_breaks_nothing(tmp_path: Path) -> None:
    """The same plan each time, though never the same course: fresh plans are what `make campaign` is for."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "proof.campaign", "--minutes", MINUTES, "--lease", "4", "--rate", "6"),
            *("--seed", "7", "--coverage", "0", "--keep", str(tmp_path / "campaign")),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )

    assert done.returncode == 0, f"{done.stderr}\n{done.stdout}"
    assert "The checker says: valid" in done.stdout
    for rule in WORKFLOWS:
        assert f"| {rule} | 0 |" not in done.stdout


def test_it_teaches_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "proof.campaign", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for word in ("--minutes", "--seed", "--only", "--keep", "make judge"):
        assert word in done.stdout
