"""From the first start to the first command: the key is found, and a wrong one is told with what to do."""

from __future__ import annotations

import os
import pty
import re
import signal
import socket
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

from tests.acceptance.cli.conftest import Desk
from tests.acceptance.nodes import Node, first_key, node
from tests.postgres import free_port


def test_a_first_start_keeps_its_key_where_commands_find_it(tmp_path: Path) -> None:
    with node(tmp_path, "up") as up:
        key = first_key(up)
        assert up.process.stdout is not None
        assert up.process.stderr is not None
        profiles = tmp_path / "config" / "gnomon" / "profiles.toml"
        assert up.process.stdout.readline().startswith(f"Kept in {profiles}, so commands find it. Next:")
        assert profiles.stat().st_mode & 0o777 == 0o600
        assert key in profiles.read_text()
        own = {name: value for name, value in os.environ.items() if not name.startswith("GNOMON_")}
        listed = subprocess.run(
            [sys.executable, "-m", "gnomon.cli", "job", "list"],
            env=own | {"XDG_CONFIG_HOME": str(tmp_path / "config")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (listed.returncode, listed.stderr) == (0, "")
        told = next(line for line in up.process.stderr if "ready at" in line)
        assert f"ready at {up.url}. Next, in another terminal: gnomon job list" in told
        before = profiles.read_text()

    other = tmp_path / "other"
    other.mkdir()
    (other / "config").symlink_to(tmp_path / "config")
    with node(other, "up") as up:
        first_key(up)
        assert up.process.stdout is not None
        assert "It is not kept: there is a profile 'default'" in up.process.stdout.readline()
        assert profiles.read_text() == before
        assert up.process.stderr is not None
        told = next(line for line in up.process.stderr if "ready at" in line)
        assert f"Next, in another terminal: gnomon login --server {up.url}" in told


def test_a_new_database_behind_a_known_address_needs_a_login_and_a_known_one_does_not(tmp_path: Path) -> None:
    def told_by(up: Node) -> str:
        assert up.process.stderr is not None
        return next(line for line in up.process.stderr if "ready at" in line)

    with node(tmp_path, "up") as up:
        assert "Next, in another terminal: gnomon job list" in told_by(up)
    with node(tmp_path, "up", port=up.port) as up:
        assert "Next, in another terminal: gnomon job list" in told_by(up)
    with node(tmp_path, "up", "--database", "sqlite://fresh.db", port=up.port) as up:
        assert f"Next, in another terminal: gnomon login --server {up.url}" in told_by(up)


def test_a_refused_key_names_server_and_origin_and_what_to_do(desk: Desk) -> None:
    wrong = "gnm_" + "x" * 40
    refused = desk("job", "list", exit_code=6, GNOMON_KEY=wrong).stderr
    assert f"The server is {desk.url}; the key is from the environment variable GNOMON_KEY." in refused
    assert f"`gnomon login --server {desk.url}`" in refused

    desk("login", "--profile", "old", "--no-check", GNOMON_KEY=wrong)
    refused = desk("job", "list", "--profile", "old", exit_code=6, GNOMON_KEY="").stderr
    assert "the key is from the profile 'old' in " in refused
    assert wrong not in refused

    refused = desk("worker", "--server", desk.url, exit_code=6, GNOMON_KEY=wrong).stderr
    assert f"The server is {desk.url}; the key is from the environment variable GNOMON_KEY." in refused


def test_a_start_that_fails_makes_no_key(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with node(tmp_path, "up", port=port) as up:
            out, err = up.process.communicate(timeout=60)
        assert f"cannot listen at 127.0.0.1:{port}" in err
        assert out == ""
    with node(tmp_path, "up") as up:
        first_key(up)
        assert f'"{up.url}"' in (tmp_path / "config" / "gnomon" / "profiles.toml").read_text()


def test_a_watched_start_shows_the_whole_next_step_on_a_narrow_terminal(tmp_path: Path) -> None:
    screen, end = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "gnomon.cli", "up", "--demo", "--port", str(free_port())],
        cwd=tmp_path,
        env=os.environ | {"XDG_CONFIG_HOME": str(tmp_path / "config"), "COLUMNS": "60", "TERM": "xterm"},
        stdout=end,
        stderr=end,
    ) as up:
        os.close(end)
        shown = ""
        while "drains and ends." not in shown:
            shown += os.read(screen, 65536).decode(errors="replace")
        up.send_signal(signal.SIGTERM)
        with suppress(OSError):  # The other end is closed.
            while os.read(screen, 65536):
                pass
    os.close(screen)
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", shown).split("\n")
    at = next(number for number, line in enumerate(lines) if line.startswith("Ready at "))
    assert lines[at].rstrip().endswith("Next, in another terminal:")
    assert lines[at + 1].rstrip() == "gnomon job list"


def test_the_next_step_can_be_pasted_where_the_program_is_not_on_the_path(tmp_path: Path) -> None:
    called = """
import sys
from gnomon.cli.output.terminal import program
sys.argv = [sys.argv[1]]
print(program())
"""
    for path, word in (
        (".venv/bin/gnomon", ".venv/bin/gnomon"),
        ("a b/gnomon", "'a b/gnomon'"),
        ("x.py", "gnomon"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", called, path],
            env={"PATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"{word}\n"
