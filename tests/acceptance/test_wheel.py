"""What `pip install` brings: all that the program needs, in a folder apart from the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.house.tree import ROOT

# The rooms of `proof`, under any name: what proves Gnomon stays in a checkout.
NOT_INSTALLED = {"proof", "checker", "simulator", "sim", "exam", "campaign", "recorder", "nemesis", "history"}
JOURNEY = """
import importlib.util
from datetime import UTC, datetime
from gnomon import Gnomon
from gnomon.testing import TimeTravel

app = Gnomon("sqlite://unused.db")

@app.job(every=3600)
def hourly() -> str:
    return "done"

journey = TimeTravel(app, start=datetime(2026, 1, 1, tzinfo=UTC)).run(until=5 * 3600)
print(len(journey.calls_of("hourly")), importlib.util.find_spec("proof"))
"""


def test_an_installed_wheel_has_every_file_no_proof_and_runs_apart_from_the_repository(
    tmp_path: Path,
) -> None:
    wheels, installed = tmp_path / "wheels", tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(wheels), str(ROOT)]
    subprocess.run(build, check=True)
    [wheel] = wheels.iterdir()

    ours = (path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    wanted = {str(path.relative_to(ROOT / "src")) for path in ours}
    shipped = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert shipped == wanted
    assert [name for name in sorted(shipped) if NOT_INSTALLED & set(Path(name).with_suffix("").parts)] == []

    subprocess.run([*pip, "install", "-q", "--no-deps", "--target", str(installed), str(wheel)], check=True)
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "import gnomon, gnomon.cli; print(gnomon.__file__); gnomon.cli.main()",
            "db",
            "migrate",
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(installed), "GNOMON_DATABASE": f"sqlite://{tmp_path}/gnomon.db"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith(str(installed)), said.stdout
    assert "migration(s) run" in said.stdout

    travelled = subprocess.run(
        [sys.executable, "-c", JOURNEY],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (travelled.stdout, travelled.stderr) == ("4 None\n", "")
