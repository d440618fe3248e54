"""What a document tells its reader to install, installed for the run of that document.

A block of TOML that begins with `# pyproject.toml` is the distribution. Blocks of Python that begin with the
name of a file, such as `# words.py`, are its modules.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tests.house.run_document import blocks

MODULE = re.compile(r"# (?P<name>\w+\.py)\n")
PROJECT = "# pyproject.toml\n"


def installed(document: Path, folder: Path) -> Path:
    """The folder, which belongs on the path of imports."""
    folder.mkdir()
    for block in blocks(document.read_text(encoding="utf-8")):
        if block.language == "toml" and block.body.startswith(PROJECT):
            _install(tomllib.loads(block.body)["project"], folder)
        elif block.language == "python" and (named := MODULE.match(block.body)):
            (folder / named["name"]).write_text(block.body, encoding="utf-8")
    return folder


def _install(project: dict[str, object], folder: Path) -> None:
    """As an installer would: that is where Python reads entry points from."""
    name, version = project["name"], project["version"]
    info = folder / f"{str(name).replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    groups = project.get("entry-points", {})
    assert isinstance(groups, dict)
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{entry} = {value}" for entry, value in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
