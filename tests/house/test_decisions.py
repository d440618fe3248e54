"""Decisions have a date, a status that fits and a text that stays: a later one changes an earlier one."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from tests.house.conftest import Plant
from tests.house.pages import LINK, read
from tests.house.tree import ROOT, must_be_empty

FOLDER = "docs/adr"
INDEX = f"{FOLDER}/README.md"
TITLE = re.compile(r"# (\d{4}) (.+)\n")
DATE = re.compile(r"^Date: (\d{4}-\d\d-\d\d)\b", re.MULTILINE)
CHANGES = re.compile(r"(?P<how>Amends|Supersedes) \[(?P<number>\d{4})\]")
ROW = re.compile(r"^\| \[(\d{4})\]\(([^)]+)\) \| (\S+) \| (.+?) \| (.+) \|$", re.MULTILINE)
STATUS = re.compile(r"accepted|(?:amended|superseded) by \[\d{4}\]\([^)]+\)(?:, \[\d{4}\]\([^)]+\))*")
WORD = {"Amends": "amended by", "Supersedes": "superseded by"}

CODE = re.compile(r"`([^`]*)`")

# What each decision said when it was taken. A seal is added with a decision and never changed after that.
SEALS = {
    "0001": "8be299183e2d", "0002": "52ce6d5099e4", "0003": "514b44259ffe", "0004": "7d5f853cb8af",
    "0005": "1d5cae39ef7e", "0006": "766a98951aa1", "0007": "0e338b91915b", "0008": "67e2a8942920",
    "0009": "5916f61b91a8", "0010": "ea267f7df630", "0011": "2297a2654b71", "0012": "7c1c01b514ec",
    "0013": "9c82c34ff3cf", "0014": "a23438a6fc0f", "0015": "4ed69104c47e", "0016": "d2779992ecc0",
    "0017": "211550903f28", "0020": "492e595aa8f1", "0021": "6abf963460f4", "0022": "a23abf79af37",
    "0023": "971ec817b2e5", "0024": "f865bf799e4d", "0025": "4cc8712540d2", "0026": "f87cd2180141",
    "0027": "a623f67ffbb3", "0028": "15aa2ee8cf55", "0030": "ffe9809b706f", "0031": "fa6ff16ce2b2",
    "0033": "ac3eacc8a4e0", "0034": "c1aa01dad3d6", "0035": "af291be43054", "0036": "ea553fd59eea",
    "0037": "09fc42ad319e", "0038": "b9bba0d41245", "0039": "5d1b2b530d68", "0040": "76fc4593d671",
    "0041": "cb361ea212ea", "0042": "97e2705a8e8b", "0043": "b01e3b5a7a88", "0044": "9457366d0b24",
    "0045": "b64cade41a3c", "0046": "b8939a5eeda9", "0047": "d8bd4bd2bb4d",
}  # fmt: skip


def test_decisions_have_a_date_and_a_row() -> None:
    must_be_empty(wrong_index(ROOT))


def test_decisions_are_not_edited() -> None:
    must_be_empty(broken_seals(ROOT, SEALS))


def test_decisions_without_a_date_or_with_the_wrong_status_are_found(plant: Plant) -> None:
    plant(f"{FOLDER}/0001-a.md", "# 0001 First\n\nDate: 2030-01-01\n")
    plant(f"{FOLDER}/0002-b.md", "# 0002 Second\n\nDate: 2030-01-02\n\nSupersedes [0001](0001-a.md).\n")
    plant(f"{FOLDER}/0003-c.md", "# 0003 Third\n")
    root = plant(
        INDEX,
        "| [0001](0001-a.md) | 2030-01-01 | First | accepted |\n"
        "| [0002](0002-b.md) | 2030-01-03 | Second | accepted |\n"
        "| [0004](0004-d.md) | 2030-01-03 | Fourth | perhaps |\n",
    )
    assert wrong_index(root) == [
        f"{INDEX}: the row of 0002 should begin with [0002](0002-b.md) | 2030-01-02 | Second.",
        f"{INDEX}: 0001 is accepted, and 0002 says that it is superseded.",
        f"{FOLDER}/0003-c.md: no line such as `Date: 2030-01-31` below the title.",
        f"{INDEX}: no row for 0003.",
        f"{INDEX}: the row of 0004 is about no decision.",
        f"{INDEX}: the status of 0004 is 'perhaps'.",
    ]


def test_a_decision_that_was_edited_is_found(plant: Plant) -> None:
    plant(f"{FOLDER}/0001-a.md", "# 0001 First\n\nSee `core/a.py`.\n")
    root = plant(f"{FOLDER}/0002-b.md", "# 0002 Second\n")
    seals = {"0001": seal("# 0001 First\n\nSee `core/time/a.py`.\n"), "0002": seal("# 0002 Other\n")}
    assert [line.partition(":")[0] for line in broken_seals(root, seals)] == [f"{FOLDER}/0002-b.md"]
    assert [line.partition(":")[0] for line in broken_seals(root, {"0001": seals["0001"]})] == [
        f"{FOLDER}/0002-b.md"
    ]


def decisions(root: Path) -> dict[str, tuple[str, str]]:
    """The place and the text of each, by number."""
    found = sorted((root / FOLDER).glob("[0-9]*.md"))
    return {path.name[:4]: (str(path.relative_to(root)), path.read_text(encoding="utf-8")) for path in found}


def wrong_index(root: Path) -> list[str]:
    rows = {
        number: (place, date, title, status)
        for number, place, date, title, status in ROW.findall(read(root, INDEX))
    }
    found, known = [], decisions(root)
    for number, (place, text) in known.items():
        title, date = TITLE.match(text), DATE.search(text)
        if date is None:
            found.append(f"{place}: no line such as `Date: 2030-01-31` below the title.")
        if number not in rows:
            found.append(f"{INDEX}: no row for {number}.")
        elif date and title and rows[number][:3] != (Path(place).name, date[1], title[2]):
            wanted = f"[{number}]({Path(place).name}) | {date[1]} | {title[2]}"
            found.append(f"{INDEX}: the row of {number} should begin with {wanted}.")
        for change in CHANGES.finditer(text):
            status = rows.get(change["number"], ("", "", "", "missing"))[3]
            if WORD[change["how"]] not in status or f"[{number}]" not in status:
                was = WORD[change["how"]].removesuffix(" by")
                found.append(f"{INDEX}: {change['number']} is {status}, and {number} says that it is {was}.")
    for number, row in rows.items():
        if number not in known:
            found.append(f"{INDEX}: the row of {number} is about no decision.")
        if not STATUS.fullmatch(row[3]):
            found.append(f"{INDEX}: the status of {number} is {row[3]!r}.")
    return found


def broken_seals(root: Path, seals: dict[str, str]) -> list[str]:
    found = []
    for number, (place, text) in decisions(root).items():
        if number not in seals:
            found.append(
                f'{place}: a new decision. Seal it in {Path(__file__).name}: "{number}": "{seal(text)}".'
            )
        elif seals[number] != seal(text):
            found.append(
                f"{place}: its text has changed. Decisions are not edited: write the next one, let it say "
                f"`Amends [{number}]` or `Supersedes [{number}]`, and set the status in {INDEX}."
            )
    return found


def seal(text: str) -> str:
    """Of the words. Files move, and the decisions follow them: places and links are no part of it."""
    words = CODE.sub(lambda code: "" if re.search(r"[/.]", code[1]) else code[0], LINK.sub("", text))
    return hashlib.sha256(" ".join(TITLE.sub(r"\2 ", words).split()).encode()).hexdigest()[:12]
