"""What `pip install` brings: all that the program needs, in a folder apart from the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.house.tree import ROOT


def test_an_installed_wheel_has_every_file_and_runs_apart_from_the_repository(tmp_path: Path) -> None:
    wheels, installed = tmp_path / "wheels", tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(wheels), str(ROOT)]
    subprocess.run(build, check=True)
    [wheel] = wheels.iterdir()

    ours = (path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    wanted = {str(path.relative_to(ROOT / "src")) for path in ours}
    assert wanted - set(zipfile.ZipFile(wheel).namelist()) == set()

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
