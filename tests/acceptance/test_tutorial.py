"""The tutorial of ten minutes, done as it stands: its files, its server, its commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.nodes import first_key, node
from tests.house.run_document import blocks
from tests.house.tree import ROOT

PAGE = ROOT / "docs/tutorial/ten-minutes.md"
START, EXPORT = "gnomon up --app jobs:app\n", "export GNOMON_KEY=gnm_...\n"
ADDRESS = "http://127.0.0.1:8484"
SECONDS_MAX = 240


@pytest.mark.skipif(shutil.which("curl") is None, reason="There is no curl here.")
def test_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    found = list(blocks(PAGE.read_text(encoding="utf-8")))
    [jobs] = [one.body for one in found if one.language == "python"]
    [ask] = [one.body for one in found if one.language == "text"]
    (tmp_path / "jobs.py").write_text(jobs, encoding="utf-8")
    (tmp_path / "ask.py").write_text(ask, encoding="utf-8")
    commands = [one.body for one in found if one.language == "bash"]
    assert commands[:2] == [START, EXPORT]

    with node(tmp_path, "up", "--app", "jobs:app", "--database", str(tmp_path / "gnomon.db")) as server:
        key = first_key(server)
        script = "set -eu\n" + "".join(commands[2:])
        done = subprocess.run(
            ["bash", "-c", script.replace(ADDRESS, server.url)],
            cwd=tmp_path,
            env=os.environ
            | {
                "GNOMON_KEY": key,
                "GNOMON_SERVER": server.url,
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "COLUMNS": "200",
            },
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )

    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    for words in (
        '"name":"nightly-sum"',
        "0 2 * * *",
        "It failed, as it should.",
        "ZeroDivisionError",
        "gpu",
        "paused",
    ):
        assert words in said, said
    assert done.stdout.endswith("42\n"), said
