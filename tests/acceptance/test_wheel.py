"""What `make dist` builds, and what `pip install` of it brings: all that the program needs, nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Collection
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.house.tree import ROOT
from tests.postgres import free_port
from tests.start import started

BUILD_SECONDS_MAX = 60
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]

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


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist and the wheel of this checkout."""
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def clean(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and the packages that it declares, and theirs. It has no pip."""
    environment = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    [packages] = environment.glob("lib/python*/site-packages")
    [wheel] = built.glob("*.whl")
    python = environment / "bin" / "python"
    install = [*PIP, "--python", str(python), "install", "-q", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True)
    [info] = packages.glob("gnomon-*.dist-info")
    for name in sorted(required_by(Distribution.at(info), (), set())):
        put_in_place(name, packages)
    return environment


def test_two_builds_are_the_same_byte_for_byte(built: Path, tmp_path: Path) -> None:
    """The second is made of the first one's sdist: at another place, later, by a stricter umask."""
    [sdist] = built.glob("*.tar.gz")
    with tarfile.open(sdist) as packed:
        packed.extractall(tmp_path, filter="data")
    [unpacked] = tmp_path.iterdir()
    again = build(unpacked, tmp_path / "dist", umask=0o077)
    assert contents(again) == contents(built)


def test_an_sdist_has_what_is_meant_for_it_and_nothing_else(built: Path) -> None:
    [sdist] = built.glob("*.tar.gz")
    with tarfile.open(sdist) as packed:
        names = {Path(name).parts[1] for name in packed.getnames()}
    assert names == {
        ".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "UPGRADING.md", "docs", "examples",
        "pyproject.toml", "src",
    }  # fmt: skip


def test_a_wheel_has_every_file_of_the_package(built: Path) -> None:
    [wheel] = built.glob("*.whl")
    ours = (path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    with zipfile.ZipFile(wheel) as packed:
        packaged = {name for name in packed.namelist() if ".dist-info/" not in name}
    assert packaged == {str(path.relative_to(ROOT / "src")) for path in ours}
    assert [name for name in sorted(packaged) if NOT_INSTALLED & set(Path(name).with_suffix("").parts)] == []


def test_an_installed_wheel_runs_with_runtime_packages_alone(clean: Path, tmp_path: Path) -> None:
    own = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "GNOMON_DATA_FOLDER": str(tmp_path)}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GNOMON_", "PYTHON"))}
    port = free_port()
    command: list[str | Path] = [clean / "bin" / "gnomon", "up", "--port", str(port)]
    with (
        started(command, folder=tmp_path, variables=kept | own, until="ready at") as said,
        urllib.request.urlopen(f"http://127.0.0.1:{port}/version") as answer,
    ):
        assert json.load(answer)["version"] == distribution("gnomon").version
    assert "Gnomon has ended" in said[-1]
    assert "Traceback" not in "".join(said)


def test_time_travel_works_in_an_installed_wheel(clean: Path, tmp_path: Path) -> None:
    travelled = subprocess.run(
        [clean / "bin" / "python", "-c", JOURNEY], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (travelled.stdout, travelled.stderr) == ("4 None\n", "")


def build(tree: Path, into: Path, *, umask: int = -1) -> Path:
    words = ["-m", "hatchling", "build", "-d", str(into), "-t", "sdist", "-t", "wheel"]
    subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env=os.environ | {"SOURCE_DATE_EPOCH": "1795046400"},
        check=True,
        capture_output=True,
        timeout=BUILD_SECONDS_MAX,
        umask=umask,
    )
    return into


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def required_by(one: Distribution, extras: Collection[str], found: set[str]) -> set[str]:
    """The names of what it needs on this machine, and of what that needs."""
    for requirement in map(Requirement, one.requires or []):
        marker = requirement.marker
        if marker is not None and not any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            continue
        if str(requirement) not in found:
            found.add(str(requirement))
            required_by(distribution(requirement.name), requirement.extras, found)
    return found


def put_in_place(name: str, packages: Path) -> None:
    """As pip would from an index. Here it comes from the environment of the tests."""
    one = distribution(Requirement(name).name)
    for top in {file.parts[0] for file in one.files or []} - {"..", "__pycache__"}:
        place = packages / top
        if not place.exists():
            place.symlink_to(Path(str(one.locate_file(top))))
