"""What a command costs before it does anything."""

from __future__ import annotations

import subprocess
import sys

LOOK = "import sys, gnomon.cli; print([name for name in sys.modules if name.startswith('litestar')])"


def test_a_command_that_serves_nothing_does_without_the_web_framework() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOK], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"
