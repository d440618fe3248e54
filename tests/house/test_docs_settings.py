"""The page about settings says what the table of settings says: options, what is accepted, defaults."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from gnomon.settings import TABLE, HandlerSettings
from gnomon.settings.table import Declared
from tests.house.conftest import Plant
from tests.house.pages import read, section
from tests.house.program import leaf_commands, options_of
from tests.house.tree import ROOT, must_be_empty

SETTINGS = "docs/reference/settings.md"
HANDLERS = "docs/reference/handlers.md"
LAST_LINE = re.compile(r"^`GNOMON_[A-Z_]+`(?:.+\n)+", re.MULTILINE)
FIELD_ROW = re.compile(r"^\| `(\w+)` \| (?:\[`([\w.]+)`\]\(settings.md#\w+\)|\S+) \|", re.MULTILINE)

# The program has one word for a file and a folder. The page may say which.
A_PLACE = re.compile(r"the path of a (file|folder)(?! or a folder)")

# Defaults that depend on where the program runs, in the words of the page.
IN_WORDS = {
    "data_folder": "the current folder",
    "database": "sqlite://gnomon.db in the data folder",
    "worker.slots": "twice the number of cores that the process may use, at least 4",
    "script.hidden": "the files named above",
}

# Fields of HandlerSettings that no setting fills by itself.
NO_SETTING = {"functions"}


def test_docs_say_what_each_setting_accepts_and_its_default() -> None:
    taken = {name for one in leaf_commands().values() for names in options_of(one) for name in names}
    must_be_empty(untrue_settings(ROOT, TABLE, taken))


def test_docs_name_the_setting_of_every_field_that_handlers_are_given() -> None:
    must_be_empty(untrue_fields(ROOT))


def test_docs_with_another_default_are_found(plant: Plant) -> None:
    rows = [row for row in TABLE if row.key in {"scheduler.shards", "log.level"}]
    root = plant(
        SETTINGS,
        """\
        ## `scheduler.shards`
        Share.

        `GNOMON_SCHEDULER_SHARDS`. Accepts on or off. Default: `off`.

        ## `log.level`
        Lines.

        `GNOMON_LOG_LEVEL`, `--log-level`. Accepts one of debug, info,
        warning, error. Default: `info`.
        """,
    )
    [found] = untrue_settings(root, rows, {"--log-level"})
    assert "'GNOMON_SCHEDULER_SHARDS. Accepts on or off. Default: off.'" in found
    assert found.endswith("'GNOMON_SCHEDULER_SHARDS. Accepts on or off. Default: on.'.")


def test_docs_with_a_field_that_is_no_setting_are_found(plant: Plant) -> None:
    root = plant(
        HANDLERS,
        """\
        ## Settings of handlers
        | field | setting |
        |---|---|
        | `http_allow` | [`http.timeout_seconds`](settings.md#httptimeout_seconds) |
        | `gone` | [`http.allow`](settings.md#httpallow) |
        """,
    )
    found = untrue_fields(root)
    assert f"{HANDLERS}: `http_allow` is the setting http.allow, and not http.timeout_seconds." in found
    assert f"{HANDLERS}: `gone` is no field of HandlerSettings." in found
    assert f"{HANDLERS}: no row for the field `script_user`." in found


def untrue_settings(root: Path, rows: Sequence[Declared], taken: Collection[str]) -> list[str]:
    """`taken` are the options that some command takes."""
    text, values = read(root, SETTINGS), dict[str, Any]()
    found = []
    for row in rows:
        values[row.key] = row.default(values)
        wanted = last_line(row, values[row.key], taken)
        lines = LAST_LINE.findall(section(text, f"`{row.key}`") + "\n")
        written = A_PLACE.sub("the path of a file or a folder", plain(lines[-1])) if lines else ""
        if written != wanted:
            found.append(f"{SETTINGS}: `{row.key}` ends with {written!r}, and should end with {wanted!r}.")
    return found


def last_line(row: Declared, default: Any, taken: Collection[str]) -> str:
    names = [", then ".join(row.variables), *({row.option} & set(taken))]
    shown = IN_WORDS.get(row.key) or in_words(row.kind.show(default))
    return f"{', '.join(names)}. Accepts {row.kind.accepted}. Default: {shown}."


def in_words(shown: object) -> str:
    match shown:
        case bool():
            return "on" if shown else "off"
        case list():
            return ",".join(shown) or "none"
        case _:
            return str(shown)


def plain(text: str) -> str:
    """Without marks of code, links and the ends of lines."""
    return " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "").split())


def untrue_fields(root: Path) -> list[str]:
    """The section lists each field once, with the setting that fills it."""
    rows = dict(FIELD_ROW.findall(section(read(root, HANDLERS), "Settings of handlers")))
    known = {one.name for one in fields(HandlerSettings)}
    found = [f"{HANDLERS}: no row for the field `{name}`." for name in sorted(known - rows.keys())]
    for name, setting in rows.items():
        wanted = "" if name in NO_SETTING else settings_by_field().get(name)
        if name not in known:
            found.append(f"{HANDLERS}: `{name}` is no field of HandlerSettings.")
        elif setting != wanted:
            found.append(f"{HANDLERS}: `{name}` is the setting {wanted}, and not {setting}.")
    return found


def settings_by_field() -> dict[str, str]:
    """The key of each field's setting, as the declaration of the field says it."""
    declared = {one.name: one.metadata["gnomon.setting"] for one in fields(HandlerSettings) if one.metadata}
    return {name: said.key for name, said in declared.items()}
