"""Pages of the documentation: their headings, sections, tables, links, words in code; and how one is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.house.installed import installed
from tests.house.run_document import FENCE
from tests.house.tree import ROOT, files

DOCUMENT_SECONDS_MAX = 120
HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*$", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
TABLE = re.compile(r"^\|.+\|\n\|[-:| ]+\|\n(?:\|.+\|\n?)*", re.MULTILINE)


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """The place and the text of every page."""
    for path in files(root):
        if path.suffix == ".md":
            yield str(path.relative_to(root)), path.read_text(encoding="utf-8")


def read(root: Path, place: str) -> str:
    return (root / place).read_text(encoding="utf-8") if (root / place).exists() else ""


def section(text: str, heading: str) -> str:
    """What stands under a heading, up to the next one."""
    found = re.search(rf"^#+\s+{re.escape(heading)}\s*$(.*?)(?=^#|\Z)", text, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def first_cells(text: str, title: str = "") -> list[str]:
    """The first cell of each row of the tables of a text; or of those tables whose first title this is."""
    found = []
    for table in TABLE.findall(text):
        titles, _, *rows = [row.strip("|").split("|")[0].strip() for row in table.splitlines()]
        if title in ("", titles):
            found += rows
    return found


def words_in_code(text: str) -> Iterator[tuple[int, str]]:
    """The line and the text of every piece of code within a sentence."""
    plain = without_code(text)
    for found in CODE.finditer(plain):
        yield plain.count("\n", 0, found.start()) + 1, found[1]


def links(text: str) -> Iterator[tuple[int, str]]:
    """The line and the target of every link. The text of a link may go over the end of a line."""
    plain = without_code(text)
    for found in LINK.finditer(plain):
        yield plain.count("\n", 0, found.start(1)) + 1, found[1]


def resolves(document: Path, target: str) -> bool:
    if re.match(r"[a-z]+:", target):
        return True  # The web is not ours to check.
    place, _, anchor = target.partition("#")
    path = document.parent / place if place else document
    if not path.exists():
        return False
    if not anchor:
        return True
    text = without_code(path.read_text(encoding="utf-8"))
    return anchor in {slug(title) for _, title in HEADING.findall(text)}


def slug(title: str) -> str:
    """The anchor that a forge makes of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def without_code(text: str) -> str:
    return FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)


def run_document(document: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    # This checkout, also where the environment belongs to another one.
    paths = os.pathsep.join(
        map(str, [ROOT / "src", ROOT, installed(document, folder / f"{document.stem}-installed")])
    )
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.house.run_document", document],
        cwd=folder,
        # The documents speak of the default database, whatever this machine uses.
        env=os.environ | {"PYTHONPATH": paths, "GNOMON_DATABASE": "", "DATABASE_URL": ""},
        capture_output=True,
        text=True,
        timeout=DOCUMENT_SECONDS_MAX,
        check=False,
    )
