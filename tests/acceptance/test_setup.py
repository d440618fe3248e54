"""What `make` sets up before each verb, tried on a small checkout whose packages are made here."""

from __future__ import annotations

import base64
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import ModuleType

import pytest

from tests.house.tree import ROOT

INSTALL = ROOT / "requirements" / "install.py"
SECONDS_MAX = 120

# Builds the small checkout. An editable wheel is a .pth file and what says whose it is.
BACKEND = """
import zipfile
from pathlib import Path

def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "small-1-py3-none-any.whl"
    with zipfile.ZipFile(Path(folder, name), "w") as wheel:
        wheel.writestr("small.pth", str(Path.cwd() / "src"))
        wheel.writestr("small-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: small\\nVersion: 1\\n")
        tags = "Root-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr("small-1.dist-info/WHEEL", "Wheel-Version: 1.0\\n" + tags)
        wheel.writestr("small-1.dist-info/RECORD", "small-1.dist-info/RECORD,,\\n")
    return name
"""
PROJECT = """
[build-system]
requires = ["backend"]
build-backend = "backend"
[project]
name = "small"
version = "1"
"""


class Checkout:
    """A checkout with packages named `engine` (runtime), `backend` (build) and `linter` (development)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wheels = folder / "wheels"
        self.environment = folder / ".venv"
        (folder / "requirements").mkdir()
        (folder / "requirements" / "install.py").write_bytes(INSTALL.read_bytes())
        (folder / "pyproject.toml").write_text(PROJECT)
        self.wheels.mkdir()
        self.require("runtime", "engine", version=1)
        self.require("build", "backend", version=1, text=BACKEND)
        self.require("dev", "engine", version=1)
        self.require("dev", "linter", version=1, add=True)

    def require(self, file: str, name: str, *, version: int, text: str = "", add: bool = False) -> None:
        """Make the wheel of a package, and put it into a requirement file as `make lock` would."""
        wheel = self.wheels / f"{name}-{version}-py3-none-any.whl"
        _write_wheel(wheel, name, version, text)
        line = f"{name}=={version} --hash=sha256:{sha256(wheel.read_bytes()).hexdigest()}\n"
        path = self.folder / "requirements" / f"{file}.txt"
        path.write_text((path.read_text() if add else "") + line)

    def start(
        self, asked: str, *words: str, stdout: int = subprocess.PIPE, **variables: str
    ) -> subprocess.Popen[str]:
        local = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)}
        return subprocess.Popen(
            [sys.executable, "requirements/install.py", asked, *words],
            cwd=self.folder,
            env={**_without_pip(os.environ), **local, **variables},
            stdout=stdout,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def install(self, asked: str, *words: str, exit_code: int = 0, **variables: str) -> str:
        process = self.start(asked, *words, stdout=subprocess.PIPE, **variables)
        said, _ = process.communicate(timeout=SECONDS_MAX)
        assert process.returncode == exit_code, said
        return said

    def install_at_a_terminal(self, asked: str) -> str:
        ours, theirs = os.openpty()
        process = self.start(asked, stdout=theirs)
        os.close(theirs)
        said = _all_of(ours)
        assert process.wait(SECONDS_MAX) == 0, said
        return said

    def packages(self) -> dict[str, str]:
        infos = self.environment.glob("lib/python*/site-packages/*.dist-info")
        return dict(sorted(info.stem.split("-")[:2] for info in infos))


def _all_of(terminal: int) -> str:
    said = b""
    with suppress(OSError):  # Which says that the other side has closed it.
        while part := os.read(terminal, 4096):
            said += part
    os.close(terminal)
    return said.decode()


def _without_pip(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if not name.startswith(("PIP_", "PYTHON"))}


def _write_wheel(path: Path, name: str, version: int, text: str) -> None:
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": text,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{place},sha256={_digest(body)},{len(body.encode())}" for place, body in files.items()]
    with zipfile.ZipFile(path, "w") as wheel:
        for place, body in files.items():
            wheel.writestr(place, body)
        wheel.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]))


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(sha256(text.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_up_brings_the_runtime_set_alone_and_test_adds_what_is_missing(checkout: Checkout) -> None:
    said = checkout.install_at_a_terminal("runtime")
    assert "[....................]  0 s  Installing 1 package of requirements/runtime.txt" in said
    assert "The program is .venv/bin/gnomon. Next:" in said
    assert checkout.packages() == {"engine": "1", "small": "1"}
    assert checkout.install_at_a_terminal("runtime") == ""

    (kept,) = checkout.environment.glob("lib/python*/site-packages/engine.py")
    before = kept.stat()
    assert "Making" not in checkout.install("development")
    assert {"engine", "small", "linter", "pip"} <= set(checkout.packages())
    assert kept.stat() == before
    assert checkout.install("development") == checkout.install("runtime") == ""


def test_a_changed_requirement_file_means_a_new_environment(checkout: Checkout) -> None:
    checkout.install("runtime")
    checkout.require("runtime", "motor", version=2)
    assert "Making" in checkout.install("runtime")
    assert checkout.packages() == {"motor": "2", "small": "1"}

    (checkout.folder / "pyproject.toml").write_text(PROJECT + "# a comment\n")
    said = checkout.install("runtime")
    assert "Installing the checkout" in said
    assert "runtime.txt" not in said


def test_an_interrupted_install_is_done_again(checkout: Checkout) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(SECONDS_MAX)
        index = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        process = checkout.start("runtime", PIP_NO_INDEX="0", PIP_INDEX_URL=index)
        try:
            connection, _ = silent.accept()  # Now pip waits for an answer.
            connection.close()
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
    assert "Installing 1 package of requirements/runtime.txt" in said

    assert "Making" in checkout.install("runtime")
    assert checkout.packages() == {"engine": "1", "small": "1"}


def test_an_install_that_fails_says_why(checkout: Checkout) -> None:
    said = checkout.install("runtime", exit_code=1, PIP_FIND_LINKS=str(checkout.folder))
    assert "Installing 1 package of requirements/runtime.txt failed (exit code 1)" in said
    assert "No matching distribution found for engine==1" in said


def test_an_environment_of_somebody_else_and_a_link_are_left_alone(checkout: Checkout) -> None:
    checkout.environment.mkdir()
    config = checkout.environment / "pyvenv.cfg"
    config.write_text("version = 3.11.2")
    assert "is not an environment that was made here" in checkout.install("runtime", exit_code=1)
    (checkout.folder / "link").symlink_to(checkout.environment)
    assert "is not an environment" in checkout.install("runtime", "--into", "link", exit_code=1)
    assert config.read_text() == "version = 3.11.2"


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("install", INSTALL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["install"] = module  # Where dataclasses look for it.
    spec.loader.exec_module(module)
    return module


def test_an_environment_that_was_moved_is_not_the_one_that_is_wanted(tmp_path: Path) -> None:
    here, there = (
        _script().Environment(tmp_path / name).wanted("runtime", "3.11.2") for name in ("here", "there")
    )
    assert here["environment"] != there["environment"]
    assert here["runtime"] == there["runtime"]


WANTED = {"environment": "e", "runtime": "r", "project": "p", "development": "d"}
RUNTIME, ALL = list(WANTED)[:3], list(WANTED)


@pytest.mark.parametrize(
    ("asked", "stamps", "steps"),
    [
        ("runtime", {}, RUNTIME),
        ("development", {}, ALL),
        ("runtime", {"environment": "e", "runtime": "r", "project": "p"}, []),
        ("development", {"environment": "e", "runtime": "r", "project": "p"}, ["development"]),
        ("runtime", {"environment": "other", "runtime": "r", "project": "p"}, RUNTIME),
        ("runtime", {"environment": "begun"}, RUNTIME),
        ("runtime", {"environment": "e", "runtime": "begun"}, RUNTIME),
        ("runtime", {"environment": "e", "runtime": "r"}, ["project"]),
        ("runtime", {"environment": "e", "runtime": "r", "project": "begun"}, ["project"]),
        ("runtime", WANTED | {"development": "begun"}, []),
        ("development", WANTED | {"development": "begun"}, ALL),
        ("development", WANTED | {"development": "other"}, ALL),
        ("development", WANTED, []),
    ],
)
def test_what_there_is_to_do(asked: str, stamps: dict[str, str], steps: list[str]) -> None:
    assert _script().what_to_do(asked, stamps, WANTED) == steps
