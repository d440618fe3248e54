"""What this distribution needs: each package is declared, used, and pinned to one version."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

from gnomon import __version__
from tests.house.conftest import Plant
from tests.house.tree import PACKAGE, ROOT, imports, must_be_empty, project, sources

PIN = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
NAME = re.compile(r"[\w.-]+")

# Declared, and imported by nothing in the package.
NOT_IMPORTED = {"tzdata": "zoneinfo reads it"}
# Imported, and declared by those who have it anyway: a module of ours that is theirs to import.
NOT_DECLARED = {"pytest": "gnomon.testing.plugin is imported by pytest itself"}


def test_packages_that_are_imported_are_declared() -> None:
    must_be_empty(undeclared(ROOT, packages_distributions()))


def test_packages_that_are_declared_are_imported() -> None:
    must_be_empty(unused(ROOT, packages_distributions()))


def test_requirement_files_pin_one_version_of_a_package() -> None:
    must_be_empty(different_pins(ROOT))


def test_the_version_has_a_dated_heading_in_the_changelog() -> None:
    must_be_empty(missing_from_the_changelog(ROOT, __version__))


def test_a_version_without_a_heading_is_found(plant: Plant) -> None:
    root = plant("CHANGELOG.md", "# Changelog\n\n## [0.1.0] - 2026-11-19\n\n### Added\n")
    assert missing_from_the_changelog(root, "0.1.0") == [
        "CHANGELOG.md: the first section is not [Unreleased]: changes of the next release go there."
    ]
    assert len(missing_from_the_changelog(root, "0.2.0")) == 2


def test_an_undeclared_and_an_unused_package_are_found(plant: Plant) -> None:
    plant("pyproject.toml", '[project]\nname = "gnomon"\ndependencies = ["used>=1", "un-used[x]>=2"]\n')
    root = plant(f"{PACKAGE}/core/a.py", "import json\nimport used.part\nfrom stranger import thing\n")
    names = {"used": ["used"], "unused": ["un_used"], "stranger": ["a-stranger"]}
    assert undeclared(root, names) == [
        f"{PACKAGE}/core/a.py:3: stranger comes with a-stranger, which pyproject.toml does not name."
    ]
    assert unused(root, names) == ["pyproject.toml: nothing imports un-used. Leave it out."]


def test_a_second_version_of_a_package_is_found(plant: Plant) -> None:
    plant("requirements/runtime.txt", "one==1 \\\n    --hash=sha256:0\ntwo==2 ; sys_platform == 'win32' \\\n")
    plant("requirements/build.txt", "three==3\n")
    root = plant("requirements/dev.txt", "one==1\ntwo==2.1\nthree==3\nfour==4\n")
    assert different_pins(root) == ["requirements/runtime.txt: two==2, but dev.txt has 2.1. Run make lock."]


def undeclared(root: Path, distributions: Mapping[str, list[str]]) -> list[str]:
    declared = {normal(name) for name in (*_declared(root, optional=True), *NOT_DECLARED)}
    return [
        f"{place}: {module} comes with {' or '.join(owners)}, which pyproject.toml does not name."
        for place, module in _foreign(root)
        if (owners := distributions.get(module, [module])) and declared.isdisjoint(map(normal, owners))
    ]


def unused(root: Path, distributions: Mapping[str, list[str]]) -> list[str]:
    imported = {normal(owner) for _, module in _foreign(root) for owner in distributions.get(module, [])}
    return [
        f"pyproject.toml: nothing imports {name}. Leave it out."
        for name in _declared(root, optional=False)
        if normal(name) not in imported and name not in NOT_IMPORTED
    ]


def different_pins(root: Path) -> list[str]:
    """All packages of `make up` and of a build are in the development set, in the same version."""
    development = pins(root, "dev.txt")
    return [
        f"requirements/{file}: {name}=={version}, but dev.txt has {development.get(name)}. Run make lock."
        for file in ("runtime.txt", "build.txt")
        for name, version in pins(root, file).items()
        if development.get(name) != version
    ]


def missing_from_the_changelog(root: Path, version: str) -> list[str]:
    sections = SECTION.findall((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    found = []
    if not sections or sections[0] != "[Unreleased]":
        found.append(
            "CHANGELOG.md: the first section is not [Unreleased]: changes of the next release go there."
        )
    if not any(re.fullmatch(rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d", one) for one in sections):
        found.append(
            f"CHANGELOG.md: no section [{version}] with a date, which is the version of the package."
        )
    return found


def pins(root: Path, file: str) -> dict[str, str]:
    return dict(PIN.findall((root / "requirements" / file).read_text(encoding="utf-8")))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _declared(root: Path, *, optional: bool) -> list[str]:
    extras = project(root).get("optional-dependencies", {}) if optional else {}
    lines = [*project(root)["dependencies"], *(line for extra in extras.values() for line in extra)]
    return [found[0] for line in lines if (found := NAME.match(line))]


def _foreign(root: Path) -> Iterator[tuple[str, str]]:
    for source in sources(root):
        for node, name in imports(source):
            module = name.partition(".")[0]
            if module not in sys.stdlib_module_names and module != "gnomon":
                yield source.at(node), module
