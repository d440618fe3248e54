"""What a shell proposes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

GNOMON = Path(sys.executable).with_name("gnomon")


COMPLETE = """
eval "$(_GNOMON_COMPLETE=source_bash gnomon)"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_gnomon_completion gnomon
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(*words: str) -> set[str]:
    """What bash proposes for the last of these words."""
    path = f"{GNOMON.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", COMPLETE, "bash", *words],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return set(done.stdout.split())
