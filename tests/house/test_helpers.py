"""What several tests use has a module of its own: a test module is imported by nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.house.conftest import Plant
from tests.house.tree import ROOT, imports, must_be_empty, sources

PLACES = ("tests", "proof", "benchmarks")


def test_nothing_is_imported_from_a_test_module() -> None:
    must_be_empty(list(borrowed(ROOT)))


def test_an_import_from_a_test_module_is_found(plant: Plant) -> None:
    plant(
        "tests/unit/test_a.py", "from tests.unit.test_b import helper\nfrom tests.unit.helping import other\n"
    )
    plant("tests/unit/test_b.py", "import tests.unit.test_a\nfrom tests.unit import test_a\n")
    root = plant("proof/a.py", "from tests.test_c import test_d\nfrom gnomon.testing import inline\n")
    assert [line.partition(": ")[0] for line in borrowed(root)] == [
        "tests/unit/test_a.py:1",
        "tests/unit/test_b.py:1",
        "tests/unit/test_b.py:2",
        "proof/a.py:1",
    ]


def borrowed(root: Path) -> Iterator[str]:
    for place in PLACES:
        for source in sources(root, under=place):
            for node, name in imports(source):
                if any(part.startswith("test_") for part in name.split(".")):
                    yield (
                        f"{source.at(node)}: imports {name} from a test module. "
                        "Move what is shared into a module named after it, or a fixture into conftest.py."
                    )
