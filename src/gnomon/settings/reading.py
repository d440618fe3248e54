"""Reads every setting from where it was said, and does not stop at the first mistake."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import assert_never

from gnomon.errors import InvalidInput, InvalidSetting
from gnomon.settings.declaration import TABLE, Settings
from gnomon.settings.kinds import without_password
from gnomon.settings.table import PREFIX, Declared, build

# What tests of Gnomon itself are told by. No settings: nobody else has a use for them.
FOR_TESTS = ("GNOMON_TEST_", "GNOMON_FAILPOINTS")


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where it came from, in words for a person."""

    value: object
    origin: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found for each key of the table, what is wrong with the file, and what may be a mistake."""

    found: Mapping[str, Setting | InvalidSetting]
    mistakes: Sequence[InvalidInput]
    warnings: Sequence[str]

    def settings(self) -> Settings:
        """Raises the first mistake, if there is one."""
        for mistake in self.mistakes:
            raise mistake
        return build(Settings, {key: self.setting(key).value for key in self.found})

    def setting(self, key: str) -> Setting:
        match self.found[key]:
            case Setting() as found:
                return found
            case InvalidSetting() as mistake:
                raise mistake
            case other:
                assert_never(other)


def read(*, options: Mapping[str, str | None], environment: Mapping[str, str], folder: Path) -> Reading:
    """`options` are those that were given, by the word of their setting. An empty variable is not set.

    Never raises for what a user wrote: the answer holds it.
    """
    said = _Said(options, environment, file="", written={})
    [config] = [row for row in TABLE if row.word == "config"]
    chosen = said.about(config, values={})
    mistakes: list[InvalidInput] = []
    if isinstance(chosen, Setting):
        file, must_exist = str(chosen.value), said.raw(config) is not None
        try:
            written = _flat(_document(folder / file, file, must_exist=must_exist))
        except InvalidInput as mistake:
            mistakes.append(mistake)
        else:
            mistakes += _unknown_keys(file, written)
            said = _Said(options, environment, file, written)
    found: dict[str, Setting | InvalidSetting] = {}
    values: dict[str, object] = {}
    for row in TABLE:
        found[row.key] = answer = said.about(row, values)
        if isinstance(answer, Setting):
            values[row.key] = answer.value
    warnings = [*_unknown_variables(environment), *_open_password(folder / said.file, said.written)]
    return Reading(found, mistakes, warnings)


@dataclass(frozen=True, slots=True)
class _Said:
    """What was said in each place."""

    options: Mapping[str, str | None]
    environment: Mapping[str, str]
    file: str
    written: Mapping[str, object]

    def about(self, row: Declared, values: Mapping[str, object]) -> Setting | InvalidSetting:
        raw = self.raw(row)
        if raw is None:
            return Setting(row.default(values), "the default")
        try:
            return Setting(row.kind.read(raw.value), raw.origin)
        except ValueError:
            return InvalidSetting(
                row.key, value=row.kind.quote(raw.value), origin=raw.origin, accepted=row.kind.accepted
            )

    def raw(self, row: Declared) -> Setting | None:
        """The first that says something, as it was said."""
        option = self.options.get(row.word)
        if option is not None:
            return Setting(option, f"the option {row.option}")
        for variable in row.variables:
            if self.environment.get(variable):
                return Setting(self.environment[variable], f"the environment variable {variable}")
        if row.in_file and row.key in self.written:
            return Setting(self.written[row.key], f"the file {self.file}")
        return None


def _document(path: Path, name: str, *, must_exist: bool) -> Mapping[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not must_exist:
            return {}
        raise InvalidInput(name, f"cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(name, f"is not TOML: {error}.") from error


def _flat(document: Mapping[str, object]) -> Mapping[str, object]:
    """The keys of a section with its name before them. What is no section stays as it is."""
    sections = {row.key.partition(".")[0] for row in TABLE if "." in row.key}
    flat: dict[str, object] = {}
    for key, value in document.items():
        if key in sections and isinstance(value, dict):
            flat |= {f"{key}.{inner}": deep for inner, deep in value.items()}
        else:
            flat[key] = value
    return flat


def _unknown_keys(file: str, written: Collection[str]) -> Iterator[InvalidInput]:
    known = [row.key for row in TABLE if row.in_file]
    for key in written:
        if key not in known:
            yield InvalidInput(file, f"{key!r} is unknown.{_meant(key, known)}")


def _open_password(path: Path, written: Mapping[str, object]) -> Iterator[str]:
    database = str(written.get("database", ""))
    if without_password(database) != database and path.stat().st_mode & stat.S_IROTH:
        yield f"All users of this machine can read the password in {path}. Run: chmod 600 {path}"


def _unknown_variables(environment: Mapping[str, str]) -> Iterator[str]:
    known = [variable for row in TABLE for variable in row.variables]
    ours = [row.variables[0].removeprefix(PREFIX) for row in TABLE]
    for variable in sorted(environment):
        if variable in known or not variable.startswith(PREFIX) or variable.startswith(FOR_TESTS):
            continue
        if environment[variable]:
            word = variable.removeprefix(PREFIX)
            yield f"The environment variable {variable} is unknown, so ignored.{_meant(word, ours, PREFIX)}"


def _meant(word: str, known: Sequence[str], prefix: str = "") -> str:
    """A guess at what a typing mistake was meant to be, or where to see all that it could be."""
    last = re.split("[._]", word, maxsplit=1)[-1]
    inside = [each for each in known if re.search(rf"[._]({re.escape(word)}|{re.escape(last)})(_|$)", each)]
    close = get_close_matches(word, known, n=1) or inside
    return f" Did you mean {prefix + close[0]!r}?" if close else " All of them: gnomon config show"
