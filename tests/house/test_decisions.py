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
PLACE = re.compile(r"`[^`]*[/.][^`]*`")

# What each decision said when it was taken. A seal is added with a decision and never changed after that.
SEALS = {
    "0001": "2a6e4888abdd", "0002": "be67a1ed1f4a", "0003": "61a1cbf75b4c", "0004": "879fa7305c9f",
    "0005": "1335abf02b43", "0006": "cdf4f65254c6", "0007": "d4f664e9ea25", "0008": "02612cb0dca4",
    "0009": "dffcd4395ad9", "0010": "9925371c38a4", "0011": "0130d53d1c4e", "0012": "4e1f29843a77",
    "0013": "875f0e9ddff5", "0014": "de96e08396cd", "0015": "eab6231cda52", "0016": "0bd42bcbda9d",
    "0017": "b547c22e8810", "0020": "323da38d4fd0", "0021": "b55e3669ae7b", "0022": "28e006a085ff",
    "0023": "8d4d8e9274a5", "0024": "69602853a1b7", "0025": "b4a10fa4e0cc", "0026": "12d6c7cdf42b",
    "0027": "aa24d9808b45", "0028": "c743dee36758", "0030": "c16972a50f0a", "0031": "42bccb582c2b",
    "0033": "f9b7312b184c", "0035": "a5aabca04adb", "0036": "83ec456f4d7c", "0037": "222cb8a507dc",
    "0038": "06fbe09e0a05", "0039": "0220a2c3df77", "0040": "92c20bc103dd", "0041": "91101e9d3f2f",
    "0042": "5d6c8406959a", "0043": "1ecd5914dafe", "0044": "0ccb86e0364a", "0045": "263dd9973b0c",
    "0046": "5fb6c41aa5f4",
    "0034": "2949be83006c",
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
