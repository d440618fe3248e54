"""Rooms show themselves: each folder says what lives there, and what it keeps inside stays inside."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.conftest import Plant
from tests.house.tree import PACKAGE, ROOT, Source, imports, must_be_empty, sources

LINES_MIN = 3
ROOM_DEPTH = 2  # layer/__init__.py is the layer; layer/room/__init__.py is a room.
INSIDE = re.compile(r"^Kept inside: (?P<names>.*?)\.$", re.DOTALL | re.MULTILINE)
NAME = re.compile(r"`(\w+)`")

# They look at the product from outside, so they may look into any room.
ONLOOKERS = {f"{PACKAGE}/testing", f"{PACKAGE}/proof"}


def test_rooms_say_what_lives_in_them() -> None:
    must_be_empty(silent_rooms(ROOT))


def test_what_a_room_keeps_inside_stays_inside() -> None:
    must_be_empty(let_out(ROOT))


def test_a_silent_room_is_found(plant: Plant) -> None:
    plant(f"{PACKAGE}/core/good/__init__.py", '"""Says it.\n\nIn: a.\nOut: b.\n"""')
    plant(f"{PACKAGE}/core/good/a.py", "")
    plant(f"{PACKAGE}/core/bad/__init__.py", '"""Room."""')
    root = plant(f"{PACKAGE}/core/bad/b.py", "")
    assert [line.partition(":")[0] for line in silent_rooms(root)] == [f"{PACKAGE}/core/bad/__init__.py"]


def test_what_leaves_its_room_is_found(plant: Plant) -> None:
    plant(f"{PACKAGE}/core/room/__init__.py", '"""Room.\n\nKept inside: `secret`, `gone`.\n"""')
    plant(f"{PACKAGE}/core/room/secret.py", "")
    plant(f"{PACKAGE}/core/room/open.py", "from gnomon.core.room.secret import x\n")
    root = plant(f"{PACKAGE}/store/thief.py", "from gnomon.core.room import secret\n")
    assert [line.partition(". ")[0] for line in let_out(root)] == [
        f"{PACKAGE}/core/room/__init__.py:1: there is no module 'gone' here.",
        f"{PACKAGE}/store/thief.py:1: gnomon.core.room keeps 'secret' inside",
    ]


def silent_rooms(root: Path) -> list[str]:
    """Folders inside a layer whose `__init__` has a title and no more. A layer speaks for itself."""
    return [
        f"{source.place}:1: say what lives in this room, what comes in (`In:`) and what goes out (`Out:`)."
        for source in rooms(root)
        if len(Path(source.place).relative_to(PACKAGE).parts) > ROOM_DEPTH
        and not any(source.place.startswith(one) for one in ONLOOKERS)
        and len(said(source).splitlines()) < LINES_MIN
    ]


def let_out(root: Path) -> list[str]:
    inside = {f"{room.module}.{name}": room for room in rooms(root) for name in kept(room)}
    gone = [
        f"{room.place}:1: there is no module {name!r} here."
        for room in rooms(root)
        for name in kept(room)
        if not (root / room.place).with_name(f"{name}.py").exists()
    ]
    return gone + [
        f"{source.at(node)}: {module.rpartition('.')[0]} keeps {module.rpartition('.')[2]!r} inside. "
        "Ask the room for what is needed, or take the name out of the list in its `__init__`."
        for source in sources(root)
        if not any(source.place.startswith(one) for one in ONLOOKERS)
        for node, name in imports(source)
        for module, room in inside.items()
        if (name == module or name.startswith(f"{module}.")) and not source.module.startswith(room.module)
    ]


def rooms(root: Path) -> Iterator[Source]:
    for source in sources(root):
        if source.place.endswith("/__init__.py"):
            yield source


def said(source: Source) -> str:
    return ast.get_docstring(source.tree) or ""


def kept(source: Source) -> list[str]:
    found = INSIDE.search(said(source))
    return NAME.findall(found["names"]) if found else []
