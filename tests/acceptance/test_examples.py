"""Each file in `examples/` does what its first lines tell a reader to type."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tests.postgres import free_port
from tests.start import started

EXAMPLES = ROOT / "examples"
PARTNER_PORT = "8099"
COMMAND_SECONDS_MAX = 60

# What a reader sees in the terminal of the commands, and in that of `gnomon up`.
SEEN = {
    "cron_report": (["0 9 * * *", "COMPLETED", '"pages": 1'], ["report for 2026-03-01, attempt 1"]),
    "fan_out": (["└─▶ sales ×N", "COMPLETED", "tasks_completed  3"], ["sales of 2026-03-01: 1800"]),
    "http_orders": (
        ["attempts          3", '{"taken": 12}', "422", "It failed.", "permanent", '{"takes": 13}'],
        ["down for maintenance", "order 13 is not complete"],
    ),
}


def test_what_is_seen_of_every_example_is_known() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SEEN)


@pytest.mark.parametrize("name", SEEN)
def test_an_example_does_what_it_says(name: str, tmp_path: Path) -> None:
    if "curl" in (text := (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")) and not shutil.which("curl"):
        pytest.skip("curl is not installed")
    shutil.copy(EXAMPLES / f"{name}.py", tmp_path)
    variables, port = surroundings(tmp_path), str(free_port())
    variables["PARTNER_PORT"] = port
    commands = [line.replace(PARTNER_PORT, port) for line in commands_of(text)]
    servers = [line for line in commands if line.startswith("python") or " up " in line]

    with ExitStack() as stack:
        for line in servers:
            until = "ready at" if " up " in line else "listens"
            words = ["bash", "-c", f"exec env {line}"]
            up = stack.enter_context(started(words, folder=tmp_path, variables=variables, until=until))
        said = [typed(line, tmp_path, variables) for line in commands[len(servers) :]]
    seen, logged = SEEN[name]
    assert [text for text in seen if text not in "".join(said)] == [], "".join(said)
    assert [text for text in logged if text not in "".join(up)] == [], "".join(up)


def commands_of(text: str) -> list[str]:
    """The indented lines of its docstring, those of the servers first."""
    docstring = ast.get_docstring(ast.parse(text)) or ""
    return [line.strip() for line in docstring.splitlines() if line.startswith("    ")]


def surroundings(folder: Path) -> dict[str, str]:
    """As of a reader who has just activated the environment, and has no settings and no key."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("GNOMON_", "DATABASE_"))
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "GNOMON_API_PORT": str(free_port())}
    return kept | own | {"PATH": path}


def typed(line: str, folder: Path, variables: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=COMMAND_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}"
    return done.stdout
