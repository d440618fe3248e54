"""What the documentation names exists: files, folders, modules, statements, codes, variables."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache
from pathlib import Path

from gnomon import errors
from gnomon.settings import TABLE
from tests.house.conftest import Plant
from tests.house.pages import pages, words_in_code
from tests.house.tree import LAYERS, PACKAGE, ROOT, must_be_empty, sources

# A word in code that begins with one of these is a place in this repository, or below its package.
TOP = {"src", "tests", "docs", "benchmarks", "campaign", "requirements", "examples", "ui", "sql", *LAYERS}
PLACE = re.compile(r"[\w.-]+(?:/[\w.{}<>*-]+)+/?")
STATEMENT = re.compile(r"[a-z_]+\.sql")
DOTTED = re.compile(r"gnomon(?:\.\w+)+")
CAPITALS = re.compile(r"[A-Z]+(?:_[A-Z]+)+")

# Words that look like ours and are of others, or of the reader.
OF_OTHERS = {
    "gnomon/profiles.toml": "below the folder of a user's settings",
    "PR_SET_DUMPABLE": "Linux",
    "TCP_DEFER_ACCEPT": "Linux",
}


def test_docs_name_only_places_that_exist() -> None:
    must_be_empty(missing_places(ROOT))


def test_docs_name_only_modules_that_exist() -> None:
    must_be_empty(missing_modules(ROOT))


def test_docs_name_only_codes_that_exist() -> None:
    must_be_empty(missing_codes(ROOT))


def test_docs_with_a_place_that_moved_are_found(plant: Plant) -> None:
    plant(f"{PACKAGE}/core/time/cron.py", "")
    plant(f"{PACKAGE}/store/sql/postgres/queue/claim.sql", "")
    root = plant(
        "docs/page.md",
        """\
        `core/time/cron.py`, `core/time`, `core/cron`, `claim.sql`, `old.sql`
        `src/gnomon/core/time/cron.py::parse`, `tests/unit`, `shop/jobs.py`, `core/{time,cron}`
        ```python
        # core/gone.py in a block
        ```
        """,
    )
    assert missing_places(root) == [
        "docs/page.md:1: there is no core/cron.",
        "docs/page.md:1: there is no old.sql.",
        "docs/page.md:2: there is no tests/unit.",
    ]


def test_docs_with_a_module_or_a_code_that_is_gone_are_found(plant: Plant) -> None:
    root = plant(
        "page.md",
        "`gnomon.core.time.cron.parse` `gnomon.core.cron` `LEASE_LOST` `LEASE_GONE` `GNOMON_APP` `GNOMON_X`",
    )
    assert missing_modules(root) == ["page.md:1: there is no gnomon.core.cron."]
    assert missing_codes(root) == [
        "page.md:1: LEASE_GONE is no code, status, event or variable of ours.",
        "page.md:1: GNOMON_X is no code, status, event or variable of ours.",
    ]


def missing_places(root: Path) -> list[str]:
    return [
        f"{place}:{line}: there is no {word}."
        for place, text in pages(root)
        for line, code in words_in_code(text)
        for word in [code.partition("::")[0]]
        if (is_place(word) and not exists(root, word))
        or (STATEMENT.fullmatch(word) and not is_statement(root, word))
    ]


def is_place(word: str) -> bool:
    return bool(PLACE.fullmatch(word)) and word.split("/")[0] in TOP and word not in OF_OTHERS


def exists(root: Path, word: str) -> bool:
    """As a file, a folder or a module. `<x>` and `{a,b}` stand for any part of a path."""
    if re.search(r"[{}<>*]", word):
        word = re.split(r"[{<*]", word)[0].rpartition("/")[0]
    under = [root, root / "src/gnomon", root / "src/gnomon/store"]
    return any((folder / name).exists() for folder in under for name in (word, f"{word}.py"))


def is_statement(root: Path, word: str) -> bool:
    return any((root / PACKAGE / "store/sql").rglob(word)) or word in OF_OTHERS


def missing_modules(root: Path) -> list[str]:
    return [
        f"{place}:{line}: there is no {name}."
        for place, text in pages(root)
        for line, code in words_in_code(text)
        for name in [code.partition("(")[0]]
        if DOTTED.fullmatch(name) and not is_module_or_member(name)
    ]


@cache
def is_module_or_member(name: str) -> bool:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return name in other_names()
            found = getattr(found, part)
        return True
    return False


@cache
def other_names() -> frozenset[str]:
    """Loggers, entry points and kinds, which are no modules."""
    said = "\n".join(source.text for source in sources(ROOT)) + (ROOT / "pyproject.toml").read_text("utf-8")
    return frozenset(re.findall(r"[\"'\[]((?:gnomon\.)[\w.]+)[\"'\]]", said.replace('entry-points."', '["')))


def missing_codes(root: Path) -> list[str]:
    return [
        f"{place}:{line}: {code} is no code, status, event or variable of ours."
        for place, text in pages(root)
        for line, code in words_in_code(text)
        if CAPITALS.fullmatch(code) and code not in known_words()
    ]


@cache
def known_words() -> frozenset[str]:
    """Codes of errors, values of enumerations, constants and variables, as sources and tests write them."""
    settings = {variable for row in TABLE for variable in row.variables}
    codes = {one.code for one in vars(errors).values() if inspect.isclass(one) and hasattr(one, "code")}
    written_by_us = [
        source for under in (PACKAGE, "tests", "campaign") for source in sources(ROOT, under=under)
    ]
    texts = [source.text for source in written_by_us if "tests/house" not in source.place]
    written = {name for text in texts for name in CAPITALS.findall(text)}
    return frozenset(settings | codes | written | OF_OTHERS.keys())
