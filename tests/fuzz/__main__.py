"""`make fuzz`: see tests/fuzz/fuzzing.py."""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.fuzzing import Fuzz, after
from tests.fuzz.node import quiet_node


def main() -> None:
    parser = argparse.ArgumentParser(prog="make fuzz")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    chosen = parser.parse_args()
    write = sys.stdout.write
    write(f"seed {chosen.seed}\n")
    with TemporaryDirectory() as folder, quiet_node(Path(folder)) as (url, key):
        fuzz = Fuzz(url, key, chosen.seed)
        fuzz.run(until=after(chosen.minutes * 60))
    answers = ", ".join(f"{status}: {count}" for status, count in sorted(fuzz.answers.items()))
    write(f"{fuzz.calls.total()} calls of {len(fuzz.calls)} operations; answers {answers}\n")


main()
