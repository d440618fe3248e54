"""How a dataclass declares settings, and the table that is read off it.

A field made by `setting` is one setting; a field made by `section` holds a dataclass of them. The key in the
file, the environment variable and the option follow from the names of the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, TypeVar

from gnomon.settings.kinds import ValueKind

T = TypeVar("T")

PREFIX = "GNOMON_"
_SAID, _SECTION = "gnomon.setting", "gnomon.section"

# A default that follows from other settings: from their values by key.
Derived = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Said:
    """What a declaration says beside the name, the type and the default of its field."""

    kind: ValueKind[Any]
    meaning: str
    key: str | None = None  # Where it is not the name of the field.
    option: str | None = None  # Where it is not the key.
    also: tuple[str, ...] = ()  # Environment variables that count when our own is not set.
    derived: Derived | None = None
    in_file: bool = True


@dataclass(frozen=True, slots=True)
class Declared:
    """One row of the table: all there is to know about a setting."""

    key: str
    kind: ValueKind[Any]
    meaning: str
    option: str
    variables: tuple[str, ...]
    default: Derived
    in_file: bool

    @property
    def word(self) -> str:
        """The key as an identifier, for Python."""
        return self.key.replace(".", "_")


@dataclass(frozen=True, slots=True)
class _Section:
    cls: type
    name: str
    each: Callable[[Field[Any]], Said] | None


def setting(kind: ValueKind[T], default: T | Callable[[], T], meaning: str, **more: Any) -> T:
    """A field of a dataclass that is a setting. `more` are the other fields of Said."""
    metadata = {_SAID: Said(kind, meaning, **more)}
    made: T = (
        field(default_factory=default, metadata=metadata)
        if callable(default)
        else field(default=default, metadata=metadata)
    )
    return made


def section(cls: type[T], name: str, *, each: Callable[[Field[Any]], Said] | None = None) -> T:
    """A field that holds the settings of `cls`, which stand in the section `name` of the file.

    An empty name puts the keys as they are. `each` says what a class that declares nothing does not say.
    """
    made: T = field(default_factory=cls, metadata={_SECTION: _Section(cls, name, each)})
    return made


def table(cls: type) -> tuple[Declared, ...]:
    """Every setting of a class, in the order of declaration."""
    rows = tuple(_rows(_Section(cls, "", None)))
    assert len({row.word for row in rows}) == len(rows), "Two settings share an environment variable."
    return rows


def build(cls: type[T], values: Mapping[str, object]) -> T:
    """An instance of `cls` from the value of every key of its table."""
    made: T = _build(_Section(cls, "", None), values)
    return made


def _build(within: _Section, values: Mapping[str, object]) -> Any:
    arguments: dict[str, object] = {}
    for each in fields(within.cls):
        inner: _Section | None = each.metadata.get(_SECTION)
        said = _said(each, within)
        if inner is not None:
            arguments[each.name] = _build(inner, values)
        elif said is not None:
            arguments[each.name] = values[_key(each, said, within)]
    return within.cls(**arguments)


def _rows(within: _Section) -> Iterator[Declared]:
    for each in fields(within.cls):
        inner: _Section | None = each.metadata.get(_SECTION)
        said = _said(each, within)
        if inner is not None:
            yield from _rows(inner)
        elif said is not None:
            yield _row(_key(each, said, within), said, _default(each))


def _row(key: str, said: Said, default: Callable[[], object]) -> Declared:
    ours = PREFIX + key.replace(".", "_").upper()
    return Declared(
        key=key,
        kind=said.kind,
        meaning=said.meaning,
        option=said.option or "--" + key.replace(".", "-").replace("_", "-"),
        variables=(ours, *said.also),
        default=said.derived or (lambda _: default()),
        in_file=said.in_file,
    )


def _said(each: Field[Any], within: _Section) -> Said | None:
    said: Said | None = each.metadata.get(_SAID)
    return within.each(each) if said is None and within.each is not None else said


def _key(each: Field[Any], said: Said, within: _Section) -> str:
    return f"{within.name}.{said.key or each.name}".removeprefix(".")


def _default(each: Field[Any]) -> Callable[[], object]:
    if each.default_factory is not MISSING:
        return each.default_factory
    assert each.default is not MISSING, f"The setting {each.name} has no default."
    return lambda: each.default
