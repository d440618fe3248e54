"""The glossary has the words of the code: names of the core and of the store protocols are made of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.conftest import Plant
from tests.house.pages import first_cells, read
from tests.house.tree import PACKAGE, ROOT, must_be_empty, sources

WORDS = "docs/internals/words.md"
OF_THE_DOMAIN = (f"{PACKAGE}/core", f"{PACKAGE}/store/protocols")
ENTRY = re.compile(r"^\| (?P<word>[^|]+) \| (?P<meaning>[^|]+) \| `(?P<place>[^`]+)` \|$", re.MULTILINE)
STEM_LENGTH_MIN = 3


def test_names_are_made_of_the_words_of_the_glossary() -> None:
    must_be_empty(names_without_words(ROOT))


def test_the_glossary_is_in_order_and_says_where() -> None:
    must_be_empty(wrong_entries(ROOT))


def test_a_name_that_no_word_explains_is_found(plant: Plant) -> None:
    plant(
        WORDS,
        """\
        | word | meaning | where |
        |---|---|---|
        | dead letter | x | `core/a.py` |
        | day | x | `core/a.py` |
        | lane | x | `core/a.py` |

        | part | meaning |
        |---|---|
        | New…, …Store | x |
        """,
    )
    text = "class DeadLetterStore: ...\nclass NewDays: ...\nclass _Gadget: ...\nclass DayGadget: ...\n"
    root = plant(f"{PACKAGE}/core/a.py", text)
    assert [line.partition(". ")[0] for line in names_without_words(root)] == [
        f"{PACKAGE}/core/a.py:4: DayGadget: the glossary has no word for 'Gadget'"
    ]
    assert wrong_entries(root) == [
        f"{WORDS}: 'day' stands after 'dead letter'; the words are in alphabetical order.",
        f"{WORDS}: 'lane' is defined in core/a.py, which does not speak of it.",
    ]


def names_without_words(root: Path) -> list[str]:
    known = set(words_of(read(root, WORDS)))
    return [
        f"{source.at(node)}: {node.name}: the glossary has no word for {part!r}. "
        f"Put it into {WORDS}, or name the class by words that are there."
        for under in OF_THE_DOMAIN
        for source in sources(root, under=under)
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        for part in re.findall(r"[A-Z][a-z0-9]*", node.name)
        if not {stem(part)} & known
    ]


def words_of(text: str) -> Iterator[str]:
    """Single words of the entries and of the parts of names, without their endings."""
    for cell in first_cells(text):
        for word in re.findall(r"[A-Za-z]+", cell):
            yield stem(word)


def stem(word: str) -> str:
    """`Released`, `releases` and `release` are one word; so are `Renewed` and `renew`."""
    word = word.lower()
    for ending in ("ies", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= STEM_LENGTH_MIN:
            word = word.removesuffix(ending)
            break
    return word.rstrip("y")


def wrong_entries(root: Path) -> list[str]:
    """In alphabetical order; and each in a module that uses the word, in a name or in its text."""
    found, before = [], ""
    for entry in ENTRY.finditer(read(root, WORDS)):
        word, place = entry["word"], entry["place"]
        key = word.lower().replace("-", " ")
        if key < before:
            found.append(f"{WORDS}: {word!r} stands after {before!r}; the words are in alphabetical order.")
        before = key
        path = root / PACKAGE / place
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if not all(re.search(rf"(?i){stem(part)}", text) for part in re.findall(r"\w+", word)):
            found.append(f"{WORDS}: {word!r} is defined in {place}, which does not speak of it.")
    return found
