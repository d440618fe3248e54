"""One process at a time works alone on a database file: real processes, a real kernel."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gnomon.app import alone_on
from gnomon.cli.output.exits import WRONG_USAGE, exit_code, line
from gnomon.errors import StoreRefused, StoreTaken
from gnomon.store.databases.file_lock import Holder

ME = Holder(os.getpid(), "here")
# Holds the file, says so, and stays until its input ends. With `fork` it says the id of a child before.
PROGRAM = """
import codecs, os, sys
from gnomon.app import alone_on
from gnomon.store.databases.file_lock import Holder
os.umask(0)
if sys.argv[2:] == ["nobody"]:  # By itself, once all is imported: nobody may not see the interpreter.
    codecs.lookup("unicode_escape")
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
with alone_on(sys.argv[1], Holder(os.getpid(), "elsewhere")):
    if sys.argv[2:] == ["fork"]:
        child = os.fork()
        if child == 0:
            sys.stdin.read()
            os._exit(0)
        print(child, flush=True)
    print("held", flush=True)
    sys.stdin.read()
"""

Hold = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def hold() -> Iterator[Hold]:
    """A function that starts a process which holds a database file."""
    started: list[subprocess.Popen[str]] = []

    def start(path: Path, *words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(path), *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_second_process_is_told_who_holds_the_file(tmp_path: Path, hold: Hold) -> None:
    path = tmp_path / "gnomon.db"
    first = hold(path)
    assert said(first) == "held"
    with pytest.raises(StoreTaken) as refused, alone_on(f"sqlite://{path}", ME):
        pass
    assert refused.value.details == {"path": str(path), "process_id": first.pid, "host": "elsewhere"}
    assert exit_code(refused.value) == WRONG_USAGE
    assert line(refused.value) == (
        f"gnomon: {path} is taken by process {first.pid} on elsewhere. "
        "Stop that one first, or choose another database. [STORE_TAKEN]"
    )


def test_the_second_name_of_a_file_is_no_way_around(tmp_path: Path, hold: Hold) -> None:
    path, name = tmp_path / "gnomon.db", tmp_path / "link.db"
    name.symlink_to(path)
    assert said(hold(path)) == "held"
    with pytest.raises(StoreTaken), alone_on(str(name), ME):
        pass


def test_a_killed_process_frees_the_file_and_its_lock_file_says_nothing(tmp_path: Path, hold: Hold) -> None:
    path = tmp_path / "gnomon.db"
    first = hold(path)
    assert said(first) == "held"
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert (tmp_path / "gnomon.db.lock").exists()
    with alone_on(str(path), ME):
        assert json.loads((tmp_path / "gnomon.db.lock").read_text()) == {
            "process_id": ME.process_id,
            "host": "here",
        }
    with alone_on(str(path), ME):
        pass  # Freed by the end of the block too.


def test_a_child_that_outlives_the_holder_holds_nothing(tmp_path: Path, hold: Hold) -> None:
    path = tmp_path / "gnomon.db"
    first = hold(path, "fork")
    child = int(said(first))
    assert said(first) == "held"
    with pytest.raises(StoreTaken), alone_on(str(path), ME):
        pass  # That the child let go has not freed the file of its parent.
    first.kill()
    first.wait()
    os.kill(child, 0)  # It lives: its input, which is ours to end, has not ended.
    until = time.monotonic() + 10
    while True:
        try:
            with alone_on(str(path), ME):
                return
        except StoreTaken:  # It lets go as soon as it runs, which may be after its parent has spoken.
            assert time.monotonic() < until
            time.sleep(0.05)


def test_the_files_are_for_their_owner_whatever_the_umask(tmp_path: Path, hold: Hold) -> None:
    assert said(hold(tmp_path / "gnomon.db")) == "held"
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {
        "gnomon.db": 0o600,
        "gnomon.db.lock": 0o600,
    }


def test_a_lock_file_that_others_could_write_is_closed_to_them(tmp_path: Path) -> None:
    lock = tmp_path / "gnomon.db.lock"
    lock.touch()
    lock.chmod(0o666)
    with alone_on(str(tmp_path / "gnomon.db"), ME):
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600


@pytest.mark.parametrize("note", ["", "what?", "[]", '{"process_id": "7"}', "\xff"])
def test_a_note_that_cannot_be_read_is_still_a_taken_file(tmp_path: Path, hold: Hold, note: str) -> None:
    path = tmp_path / "gnomon.db"
    assert said(hold(path)) == "held"
    (tmp_path / "gnomon.db.lock").write_text(note, encoding="latin-1")
    with pytest.raises(StoreTaken, match="is taken by another process") as refused, alone_on(str(path), ME):
        pass
    assert refused.value.process_id is None


def test_a_folder_that_everybody_may_change_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(StoreRefused, match="Run: chmod o-w"), alone_on(str(tmp_path / "gnomon.db"), ME):
        pass
    tmp_path.chmod(0o1777)  # As /tmp: everybody may add, nobody may take away.
    with alone_on(str(tmp_path / "gnomon.db"), ME):
        pass


def test_a_lock_file_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gnomon.db.lock").symlink_to(tmp_path / "precious")
    with pytest.raises(StoreRefused, match="cannot be opened"), alone_on(str(tmp_path / "gnomon.db"), ME):
        pass
    assert not (tmp_path / "precious").exists()


def test_memory_and_a_server_are_not_held() -> None:
    for url in ("sqlite://:memory:", "postgresql://host/name"):
        with alone_on(url, ME), alone_on(url, ME):
            pass


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root can act for nobody.")
def test_root_is_told_that_nobody_holds_the_file_and_nobody_is_kept_from_roots(hold: Hold) -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to nobody.
        folder = Path(name)
        folder.chmod(0o1777)
        process = hold(folder / "gnomon.db", "nobody")
        assert said(process) == "held"
        with pytest.raises(StoreTaken) as refused, alone_on(str(folder / "gnomon.db"), ME):
            pass
        assert refused.value.process_id == process.pid
        with alone_on(str(folder / "roots.db"), ME):
            assert said(hold(folder / "roots.db", "nobody")) == ""  # Refused: the file is root's.


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
