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

# Files move, and the decisions follow them: places are no part of what is sealed.
PLACE = re.compile(r"`[^`\s]*[/.][^`\s]*`")

# What each decision said when it was taken. A seal is added with a decision and never changed after that.
SEALS = {
    "0001": "2a6e4888abdd", "0002": "b82bcc8b8773", "0003": "6c91886f90ac", "0004": "7044cb2088d6",
    "0005": "eb1f65c21b6c", "0006": "111323ba02ca", "0007": "87c8fa8e15b9", "0008": "42e294692dac",
    "0009": "dffcd4395ad9", "0010": "2866c6d933d0", "0011": "f7d87f36ed84", "0012": "e4d79dbb2083",
    "0013": "95a1087efa4a", "0014": "de96e08396cd", "0015": "eab6231cda52", "0016": "0bd42bcbda9d",
    "0017": "0c1bde0aa48d", "0020": "8a3d8e72cda3", "0021": "b55e3669ae7b", "0022": "fe86075fd26b",
    "0023": "8d4d8e9274a5", "0024": "5986101ca514", "0025": "b4a10fa4e0cc", "0026": "313f975fe623",
    "0027": "70821d588f95", "0028": "cd91cb6ab349", "0030": "a43169c86d4f", "0031": "42bccb582c2b",
    "0033": "889520fde8d2", "0034": "7c986b11d42b", "0035": "0d58f167573d", "0036": "83ec456f4d7c",
    "0037": "72e46b6c8bca", "0038": "06fbe09e0a05", "0039": "5b6e35943dc1", "0040": "92c20bc103dd",
    "0041": "a5fe6c01f6b6", "0042": "5d6c8406959a", "0043": "1ecd5914dafe", "0044": "0ccb86e0364a",
    "0045": "263dd9973b0c", "0046": "5dd03cd526f0", "0047": "1fe4506790dc",
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
    """Of the words, without places, targets of links and the ends of lines."""
    words = " ".join(PLACE.sub("`", LINK.sub("", text)).split())
    return hashlib.sha256(words.encode()).hexdigest()[:12]
