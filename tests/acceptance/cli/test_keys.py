"""`gnomon key`: a lost admin key is replaced by those who can write the database, while it is in use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.acceptance.cli.conftest import Desk, Done
from tests.acceptance.nodes import first_key, node


def gnomon(folder: Path, *words: str, exit_code: int = 0) -> Done:
    """Without a key and without a server."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GNOMON_")}
    done = subprocess.run(
        [sys.executable, "-m", "gnomon.cli", *words],
        cwd=folder,
        env=own | {"XDG_CONFIG_HOME": str(folder / "nothing")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == exit_code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_a_lost_admin_key_is_replaced_in_the_database_of_a_server_that_runs(tmp_path: Path) -> None:
    words = ("key", "create", "rescue", "--scope", "admin", "--database", "gnomon.db")
    assert "no schema of Gnomon yet" in gnomon(tmp_path, *words, exit_code=1).stderr
    assert not (tmp_path / "gnomon.db").exists()
    with node(tmp_path, "up") as up:
        lost = first_key(up)
        made = json.loads(gnomon(tmp_path, *words, "-o", "json").stdout)
        assert made["created_through"] == "database"
        desk = Desk(tmp_path, up.url, made["key"])
        called = desk.json("key", "create", "other", "--scope", "read")
        assert called.keys() == made.keys()
        listed = {one["name"]: one for one in desk.json("key", "list")}
        assert {name: one["created_through"] for name, one in listed.items()} == {
            "first": "first_start",
            "rescue": "database",
            "other": "api",
        }
        desk("key", "revoke", listed["first"]["key_id"], "--yes")
        desk("job", "list", exit_code=6, GNOMON_KEY=lost)
        kept = desk("key", "revoke", made["key_id"], "--yes", exit_code=1).stderr
        assert "the last valid key with the scope 'admin'" in kept
    again = gnomon(tmp_path, *words, "--server", up.url, exit_code=2).stderr
    assert "leave out --server" in again
    with node(tmp_path, "up") as up:
        up.wait()
        uses = Desk(tmp_path, up.url, made["key"]).json("key", "list")
        assert next(one for one in uses if one["name"] == "rescue")["last_used_at"] is not None
