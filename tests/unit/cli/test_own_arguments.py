"""A secret among the arguments is not in the list of processes for longer than a moment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from pathlib import Path
from gnomon.cli.session.own_arguments import hide_secrets
print(hide_secrets(sys.argv))
print(Path("/proc/self/cmdline").read_bytes())
print(sys.argv)
"""
URL = "postgresql://ada:hunter2@db.example/jobs?sslmode=require"


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="There is no /proc.")
@pytest.mark.parametrize(
    ("words", "secret", "left"),
    [
        (["up", "--database", URL, "--port", "9"], "hunter2", b"ada:***@db.example"),
        (
            ["up", f"--database={URL}", "--port", "9"],
            "hunter2",
            b"--database=postgresql://ada:***@db.example",
        ),
        (["job", "list", "--key", "gnm_abcdef"], "gnm_abcdef", b"--key\\x00***"),
        (["up", "--database", "postgresql://h/n?password=hunter2"], "hunter2", b"password=***"),
    ],
)
def test_it_is_overwritten_and_the_program_still_has_it(words: list[str], secret: str, left: bytes) -> None:
    warnings, seen, argv = _run(words)
    assert "was visible in the list of processes. Better: set GNOMON_" in warnings
    assert secret not in seen + warnings
    assert left.decode() in seen
    assert repr(words)[1:-1] in argv


def test_without_a_secret_nothing_is_said() -> None:
    warnings, seen, _ = _run(["up", "--database", "postgresql://ada@db.example/jobs"])
    assert warnings == "[]"
    assert "postgresql://ada@db.example/jobs" in seen


def _run(words: list[str]) -> list[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()
