"""Power cuts, made from a trace: at a random moment, what was synced is there, and of the rest any part.

One run of the load is traced; then each cut is a moment of that trace. A write that was not synced may be
there, or not, or only some of its sectors.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from uuid import UUID

from proof.campaign.cluster.nodes import ROOT
from proof.campaign.power.load import ACKNOWLEDGED, FILE

SECTOR = 512
LOAD_SECONDS_MAX = 300
SOURCE = Path(__file__).with_name("trace.c")
READY = b"ready\n"


class NoCompiler(Exception):
    """There is no C compiler here, and the trace needs one."""


@dataclass(frozen=True, slots=True)
class Step:
    what: str
    name: str
    offset: int
    data: bytes


@dataclass(slots=True)
class Disk:
    """The files as they would be found after a cut: what lasts, and what may or may not."""

    lasting: dict[str, bytearray] = field(default_factory=dict)
    loose: dict[str, list[Step]] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        if step.what == "sync":
            for one in self.loose.pop(step.name, []):
                _apply(self.lasting.setdefault(step.name, bytearray()), one)
        elif step.what == "remove":  # SQLite syncs the folder, so this lasts.
            self.lasting.pop(step.name, None)
            self.loose.pop(step.name, None)
        elif step.what != "unheard":
            self.loose.setdefault(step.name, []).append(step)

    def after_a_cut(self, random: Random) -> Mapping[str, bytes]:
        kept = random.choice((0.0, 0.5, 0.9, 1.0))
        files = {}
        for name in self.lasting.keys() | self.loose.keys():
            content = bytearray(self.lasting.get(name, b""))
            for step in self.loose.get(name, ()):
                for part in _sectors(step):
                    if random.random() < kept:
                        _apply(content, part)
            files[name] = bytes(content)
        return files


def _sectors(step: Step) -> Iterator[Step]:
    if step.what == "truncate":
        yield step
        return
    for first in range(0, len(step.data), SECTOR):
        yield Step("write", step.name, step.offset + first, step.data[first : first + SECTOR])


def _apply(content: bytearray, step: Step) -> None:
    end = step.offset + len(step.data)
    if len(content) < end or step.what == "truncate":
        del content[end:]
        content.extend(b"\0" * (end - len(content)))
    content[step.offset : end] = step.data


def traced(calls: int, *, is_deaf: bool = False) -> Sequence[Step]:
    """Run the load, and everything that it wrote to its files, in order."""
    with tempfile.TemporaryDirectory(prefix="gnomon-power-") as name:
        folder, trace, library = Path(name, "files"), Path(name, "trace"), Path(name, "trace.so")
        folder.mkdir()
        _compile(library)
        environment = {"LD_PRELOAD": str(library), "POWER_FOLDER": str(folder), "POWER_TRACE": str(trace)}
        if is_deaf:
            environment["POWER_DEAF"] = "1"
        subprocess.run(
            [sys.executable, "-m", "proof.campaign.power.load", folder, str(calls)],
            cwd=ROOT,
            env=os.environ | environment,
            timeout=LOAD_SECONDS_MAX,
            check=True,
        )
        return list(_steps(trace.read_bytes()))


def _compile(library: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise NoCompiler("There is no C compiler here (Debian: apt-get install gcc libc6-dev).")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)


def _steps(trace: bytes) -> Iterator[Step]:
    place = 0
    while place < len(trace):
        end = trace.index(b"\n", place)
        what, name, offset, length = trace[place:end].decode().split(" ")
        place = end + 1
        yield Step(what, name, int(offset), trace[place : place + int(length)])
        place += int(length)


@dataclass(frozen=True, slots=True)
class Cut:
    """What one cut left. `lost` was acknowledged before it, and is not there after it."""

    step: int
    acknowledged: int
    lost: Sequence[str]
    integrity: str

    @property
    def is_clean(self) -> bool:
        return not self.lost and self.integrity == "ok"


def cuts(steps: Sequence[Step], count: int, *, seed: int) -> Iterator[Cut]:
    random = Random(seed)
    begin = next(n for n, one in enumerate(steps) if one.name == ACKNOWLEDGED)
    moments = sorted(random.randrange(begin + 1, len(steps)) for _ in range(count))
    disk, said, done = Disk(), bytearray(), 0
    for moment in moments:
        for step in steps[done:moment]:
            if step.name == ACKNOWLEDGED:
                said += step.data
            else:
                disk.take(step)
        done = moment
        yield _look(moment, disk.after_a_cut(random), bytes(said))


def _look(moment: int, files: Mapping[str, bytes], said: bytes) -> Cut:
    """Open what is left, as SQLite does after a crash, and look for all that was acknowledged."""
    promised = [line.split() for line in said.removeprefix(READY).decode().splitlines()]
    with tempfile.TemporaryDirectory(prefix="gnomon-cut-") as name:
        for file, content in files.items():
            if not file.endswith("-shm"):  # Made anew from the others.
                Path(name, file).write_bytes(content)
        connection = sqlite3.connect(Path(name, FILE))
        try:
            [integrity] = connection.execute("PRAGMA integrity_check").fetchone()
            kept = {_id(row[0]) for row in connection.execute("SELECT id FROM executions")}
            taken = {_id(row[0]) for row in connection.execute("SELECT execution_id FROM leases")}
            done = {
                _id(row[0])
                for row in connection.execute("SELECT execution_id FROM endings WHERE outcome = 'COMPLETED'")
            }
        except sqlite3.DatabaseError as error:
            return Cut(moment, len(promised), [], str(error))
        finally:
            connection.close()
    found = {"kept": kept, "claimed": taken | done, "done": done}
    lost = [f"{word} {run}" for word, run in promised if run not in found[word]]
    return Cut(moment, len(promised), lost, integrity)


def _id(value: object) -> str:
    return str(UUID(bytes=value)) if isinstance(value, bytes) else str(UUID(str(value)))
