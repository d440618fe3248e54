"""`python requirements/install.py runtime|development|workflows`: the environments that `make` works in.

The environment is made in steps: an empty one, the packages of runtime.txt, the checkout itself, the packages
of dev.txt. Each step leaves a stamp that says from what it was made. If a step was interrupted, or its file
changed, the environment is made anew. A step that was never begun adds to the environment that is there. Thus
`make test` after `make up` adds what is missing, and no environment is a mixture of two states.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "requirements"

# What each step is made from. `environment` is made from an interpreter and a folder instead.
STEPS = {
    "environment": (),
    "runtime": ("requirements/runtime.txt",),
    "project": ("pyproject.toml", "requirements/build.txt"),
    "development": ("requirements/dev.txt",),
    "workflows": ("requirements/workflows.txt",),
}
SETS = {
    "runtime": ("environment", "runtime", "project"),
    "development": ("environment", "runtime", "project", "development"),
    "workflows": ("environment", "workflows"),  # In an environment of their own.
}
REPEATABLE = {"project"}  # Replaces what it did before, and so needs no new environment.
BEGUN = "begun"
NOTHING: Mapping[str, str] = MappingProxyType({})

# Debian and Fedora keep the wheel outside of the module.
FIND_PIP = """
import ensurepip, pathlib, sysconfig
folders = [pathlib.Path(ensurepip.__file__).parent / "_bundled", sysconfig.get_config_var("WHEEL_PKG_DIR")]
print(*[wheel for folder in folders if folder for wheel in pathlib.Path(folder).glob("pip-*.whl")][:1])
"""

# Some packages are for other systems: their line says which.
PIN = re.compile(r"^([\w.-]+)==[^;\n]*$", re.MULTILINE)

LOOK_SECONDS = 0.2
LINE_SECONDS = 5.0  # Between two lines where there is no terminal to draw on.
BAR_WIDTH = 20
LOG_LINES = 15  # Of a failed command, on the screen; the rest is in the file of log.


def what_to_do(asked: str, stamps: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    """The steps that are missing from the set that is asked for, in order."""
    steps = SETS[asked]
    if any(stamps.get(step, wanted[step]) != wanted[step] for step in steps if step not in REPEATABLE):
        return list(steps)
    if "environment" not in stamps:
        return list(steps)
    return [step for step in steps if stamps.get(step) != wanted[step]]


@dataclass(frozen=True)
class Environment:
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def log(self) -> Path:
        return self.folder / "install.log"

    @property
    def _stamps(self) -> Path:
        return self.folder / "installed.json"

    def is_ours(self) -> bool:
        """Whether it may be removed: not a link to what others share, nor what somebody else made."""
        if self.folder.is_symlink():
            return False
        before = self.folder / ".ready"  # The stamp of checkouts from before 0.1.0.
        is_there = self.folder.exists() and any(self.folder.iterdir())
        return not is_there or self._stamps.exists() or before.exists()

    def stamps(self) -> dict[str, str]:
        try:
            stamps = json.loads(self._stamps.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return stamps if isinstance(stamps, dict) else {}

    def stamp(self, step: str, text: str) -> None:
        new = self._stamps.with_suffix(".new")
        new.write_text(json.dumps(self.stamps() | {step: text}, indent=1), encoding="utf-8")
        new.replace(self._stamps)

    def version(self) -> str | None:
        """What its interpreter says. None if none runs, as after a change of the system's Python."""
        ask = [str(self.python), "-c", "import sys; print(sys.version)"]
        try:
            said = subprocess.run(ask, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return said.stdout.strip()

    def wanted(self, asked: str, interpreter: str) -> dict[str, str]:
        """The stamps of a complete environment. They name its folder: one that was moved is broken."""
        stamps = {step: _fingerprint(ROOT / place for place in STEPS[step]) for step in SETS[asked]}
        return stamps | {"environment": f"{interpreter} in {self.folder}"}

    def packages(self) -> set[str]:
        found = self.folder.glob("lib/python*/site-packages/*.dist-info")
        return {_normal(info.name.partition("-")[0]) for info in found}


def _fingerprint(files: Iterator[Path]) -> str:
    digest = sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


class Failed(Exception):
    """A step did not succeed. The message is for the person at the terminal."""


class Screen:
    """Progress: one line that is drawn again and again on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self.is_terminal = sys.stdout.isatty()
        self._told_at = 0.0

    def begin(self, title: str) -> None:
        self._told_at = time.monotonic()
        if not self.is_terminal:
            print(title, flush=True)

    def show(self, title: str, done: int, total: int, *, seconds: float) -> None:
        if self.is_terminal:
            filled = round(BAR_WIDTH * done / total) if total else 0
            bar = f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}] " if total else ""
            line = f"{bar}{seconds:2.0f} s  {title}"
            print(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}", end="", flush=True)
        elif time.monotonic() - self._told_at >= LINE_SECONDS:
            self._told_at = time.monotonic()
            print(f"  {f'{100 * done // total} %, ' if total else ''}{seconds:.0f} s", flush=True)

    def end(self, title: str, *, seconds: float) -> None:
        if self.is_terminal:
            print(f"\r\x1b[K{title}: {seconds:.1f} s", flush=True)


class Installer:
    """Its tools are a folder of its own: an environment has no more than what its requirement files name."""

    def __init__(self, environment: Environment, screen: Screen, tools: Path) -> None:
        self._environment = environment
        self._screen = screen
        self._tools = tools

    def environment(self) -> None:
        environment = self._environment
        folder = environment.folder
        if not environment.is_ours():
            raise Failed(
                f"{folder} is not an environment that was made here. "
                "Remove it, or set VENV=... to another place."
            )
        self._need_venv()
        old = folder.with_name(folder.name + ".old")  # What an interruption leaves of it is in nobody's way.
        shutil.rmtree(old, ignore_errors=True)
        if folder.exists():
            folder.rename(old)
            shutil.rmtree(old)
        folder.mkdir(parents=True)
        environment.stamp("environment", BEGUN)
        version = ".".join(map(str, sys.version_info[:3]))
        options = ["--without-pip"] if _bundled_pip(sys.executable) else []
        self.run(
            f"Making {_short(folder)} with Python {version}", [sys.executable, "-m", "venv", *options, folder]
        )

    def runtime(self) -> None:
        # Not compiled: Python does that for what it imports, which is a third of it.
        self._install("runtime.txt", "--no-compile")

    def project(self) -> None:
        """The checkout, editable: it is imported from where it is."""
        build = self._tools / "build"
        self._install("build.txt", "--no-compile", "--target", str(build))
        words = ["--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
        self._pip("Installing the checkout", *words, beside=build)

    def development(self) -> None:
        self.run("Installing pip", [self._environment.python, "-m", "ensurepip", "--default-pip"])
        self._install("dev.txt")

    def workflows(self) -> None:
        self._install("workflows.txt")

    def _install(self, file: str, *options: str) -> None:
        """The file names all packages with their hashes, so there is nothing to resolve."""
        path = REQUIREMENTS / file
        names = {_normal(name) for name in PIN.findall(path.read_text(encoding="utf-8"))}
        title = f"Installing {len(names)} package{'s' * (len(names) > 1)} of requirements/{file}"
        self._pip(title, *options, "--no-deps", "--require-hashes", "--requirement", str(path), names=names)

    def _pip(self, title: str, *words: str, names: Collection[str] = (), beside: Path | None = None) -> None:
        python, pip = self._environment.python, self._tools / "pip"
        if not pip.exists() and (wheel := _bundled_pip(python)):
            with ZipFile(wheel) as packed:
                packed.extractall(pip)
        paths = [str(path) for path in (pip, beside) if path]
        install: list[str | Path] = [
            python,
            "-m",
            "pip",
            "install",
            "--disable-pip-version-check",
            "--progress-bar",
            "off",
        ]
        self.run(title, [*install, *words], names=names, variables={"PYTHONPATH": os.pathsep.join(paths)})

    def _need_venv(self) -> None:
        """Debian ships Python without the part of it that makes an environment. Root can mend that."""
        if find_spec("venv") and find_spec("ensurepip"):
            return
        package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        if os.geteuid() != 0 or not shutil.which("apt-get"):
            raise Failed(f"This Python has no venv module. On Debian, run as root: apt-get install {package}")
        quietly = {"DEBIAN_FRONTEND": "noninteractive"}
        log = self._tools / "apt.log"
        self.run("Looking up Debian's packages", ["apt-get", "update"], variables=quietly, log=log)
        words = ["apt-get", "install", "-y", "--no-install-recommends", package]
        self.run(f"Installing {package}", words, variables=quietly, log=log)

    def run(
        self,
        title: str,
        command: Sequence[str | Path],
        *,
        names: Collection[str] = (),
        variables: Mapping[str, str] = NOTHING,
        log: Path | None = None,
    ) -> None:
        log, total, started = log or self._environment.log, 2 * len(names), time.monotonic()
        self._screen.begin(title)
        with log.open("wb") as said:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env={**os.environ, **variables}
            )
            try:
                while _runs(process):
                    # A package counts twice: when pip has found it, and when it is there.
                    done = _found(log) + len(self._environment.packages().intersection(names))
                    seconds = time.monotonic() - started
                    self._screen.show(title, min(done, total), total, seconds=seconds)
            finally:
                process.kill()
                process.wait()
        self._screen.end(title, seconds=time.monotonic() - started)
        if process.returncode != 0:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:]
            raise Failed("\n".join([f"{title} failed (exit code {process.returncode}):", *lines]))


def _runs(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(LOOK_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return False


def _found(log: Path) -> int:
    """How many packages pip has found, by what it has said so far."""
    return len(re.findall(rb"^(?:Collecting|Requirement already satisfied)", log.read_bytes(), re.MULTILINE))


def _bundled_pip(python: str | Path) -> Path | None:
    """The wheel of pip that a Python brings for its new environments, where it can be found."""
    said = subprocess.run(
        [python, "-c", FIND_PIP], capture_output=True, text=True, check=False
    ).stdout.strip()
    return Path(said) if said else None


def _short(path: Path) -> str:
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


@contextmanager
def _alone(screen: Screen) -> Iterator[None]:
    """One at a time: two of them would write into the same folder."""
    with Path(__file__).open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            screen.begin("Another make is setting up. Waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install(asked: str, environment: Environment, screen: Screen, *, only_this_python: bool) -> bool:
    """Make what is missing of the set that is asked for. Whether anything was."""
    present = environment.version()
    interpreter = sys.version if present is None or only_this_python else present
    wanted = environment.wanted(asked, interpreter)
    steps = what_to_do(asked, {} if present is None else environment.stamps(), wanted)
    if "environment" in steps:
        wanted = environment.wanted(asked, sys.version)
    with tempfile.TemporaryDirectory() as tools:
        installer = Installer(environment, screen, Path(tools))
        for step in steps:
            if step != "environment":  # Says so itself, once there is a place for it.
                environment.stamp(step, BEGUN)
            getattr(installer, step)()
            environment.stamp(step, wanted[step])
    return bool(steps)


def next_steps(environment: Environment) -> str:
    program = _short(environment.folder / "bin" / "gnomon")
    return f"""
The program is {program}. Next:
  in a second terminal      {program} job list
  jobs of your own          docs/tutorial/first-steps.md
  before you change Gnomon  make test
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python requirements/install.py", description="Make the environment of make."
    )
    parser.add_argument("asked", choices=SETS, help="the set that must be there")
    parser.add_argument(
        "--into", type=Path, default=ROOT / ".venv", help="the folder of the environment (.venv)"
    )
    parser.add_argument(
        "--only-this-python", action="store_true", help="replace an environment of another Python"
    )
    asked = parser.parse_args()
    environment, screen = Environment(Path.cwd() / asked.into), Screen()
    try:
        with _alone(screen):
            is_new = install(asked.asked, environment, screen, only_this_python=asked.only_this_python)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. The next make begins this step again.", file=sys.stderr)
        return 130
    if is_new and asked.asked == "runtime" and screen.is_terminal:
        print(next_steps(environment), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
