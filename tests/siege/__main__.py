"""`make siege`: see tests/siege/besieging.py."""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.fuzzing import after
from tests.siege.attacks import CROWD
from tests.siege.besieging import HEAD, Siege
from tests.siege.node import besieged_node, room_for


def main() -> None:
    parser = argparse.ArgumentParser(prog="make siege")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    chosen = parser.parse_args()
    write = sys.stdout.write
    write(f"seed {chosen.seed}\n{HEAD}\n")
    with TemporaryDirectory() as folder, besieged_node(Path(folder), part=1.0) as (one, key, settings):
        siege = Siege(one.port, one.process.pid, key, settings, chosen.seed, room_for(CROWD))
        siege.run(until=after(chosen.minutes * 60), told=lambda outcome: _show(outcome.row))
    for complaint in siege.complaints():
        write(f"BROKEN {complaint}\n")
    sys.exit(1 if siege.complaints() else 0)


def _show(row: str) -> None:
    sys.stdout.write(f"{row}\n")
    sys.stdout.flush()


main()
