"""From the bytes of a request to a struct: strict, so that nothing is silently changed or dropped.

`parse_json` has the last word about the JSON: it refuses a key that is there twice and a number that would
change. Where no such doubt is possible, a quicker parser reads the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from litestar.dto import AbstractDTO

from gnomon.core.values.choices import allowed, beside, fields_at, one_of
from gnomon.core.values.document import NESTING_MAX, Document
from gnomon.core.values.forms import Form
from gnomon.core.values.json_text import is_too_deep, parse_json
from gnomon.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Generator

    from litestar.dto._backend import DTOBackend
    from litestar.dto.data_structures import DTOFieldDefinition
    from litestar.typing import FieldDefinition

T = TypeVar("T")

_PLACE = re.compile(r" - at `(?:key in )?\$(?P<path>.*?)`$")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`", re.DOTALL)
_MINUS_ZERO = re.compile(rb"(?:^|[\s\[:,])-0")
# What a double may not hold: more than 15 digits, and an exponent of three.
_MANY_DIGITS = b"0" * 17
_DIGITS_ALIKE = bytes.maketrans(b"123456789.", b"0000000000")
_LONG_EXPONENT = re.compile(rb"(?:^|[\s\[:,])-?[0-9][0-9.]*[eE][+-]?[0-9]{3}")
QUICK_BYTES_MAX = 64 * 1024
# The quick parser holds all threads up until it is done. The other one lets them have their turns.
QUICK_BODY_BYTES_MAX = 1024 * 1024


class Seen(Form):
    """Which version of the job or workflow the caller has seen. Null: whichever there is."""

    version: int | None = None


def read_json(body: bytes) -> Any:
    """Raises InvalidInput for everything that is not plain JSON in UTF-8."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise InvalidInput("body", "is not UTF-8.") from None
    if not text:
        raise InvalidInput("body", "is missing; send a JSON object.")
    value = _read_quickly(body)
    if value is not msgspec.UNSET:
        return value
    return parse_json(text, field="")


def read(body: bytes, into: type[T]) -> T:
    """Raises InvalidInput that names the field."""
    return convert(read_json(body), into)


def convert(value: Any, into: type[T]) -> T:
    try:
        return msgspec.convert(value, into)
    except UnicodeEncodeError:
        raise InvalidInput("body", "the name of a field holds a lone surrogate, which is not text.") from None
    except msgspec.ValidationError as error:
        text = str(error)
        place = _PLACE.search(text)
        path, what = place["path"].lstrip(".") if place else "", _PLACE.sub("", text)
        if unknown := _UNKNOWN.fullmatch(what):
            name = unknown["name"]
            reason = f"is not a field here.{beside(name, fields_at(into, path))}"
            raise InvalidInput(f"{path}.{name}".lstrip("."), reason) from None
        if missing := _MISSING.fullmatch(what):
            raise InvalidInput(f"{path}.{missing['name']}".lstrip("."), "is missing.") from None
        raise InvalidInput(path or "body", f"{what}{one_of(allowed(into, path))}.") from None


def document_of(value: Any, *, field: str) -> Document:
    """What `Document.of` makes of a value that `read_json` has read: the same, three times as fast.

    The parser has refused most of what a document must not hold. What else could be wrong shows in the text.
    """
    try:
        text = msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError, RecursionError):
        return Document.of(value, field=field)
    is_plain = (
        len(text) <= QUICK_BYTES_MAX
        and b"\\u0000" not in text
        and b"-0.0" not in text
        and (len(text) <= NESTING_MAX or text.count(b"{") + text.count(b"[") <= NESTING_MAX)
    )
    return Document(text.decode()) if is_plain else Document.of(value, field=field)


def _read_quickly(body: bytes) -> Any:
    """The value, if it is surely what the other parser would read; else UNSET."""
    is_doubtful = (
        len(body) > QUICK_BODY_BYTES_MAX
        or b"\\u" in body
        or (b"-0" in body and _MINUS_ZERO.search(body))
        or _MANY_DIGITS in body.translate(_DIGITS_ALIKE)
        or _LONG_EXPONENT.search(body)
    )
    if is_doubtful:
        return msgspec.UNSET
    try:
        value = msgspec.json.decode(body)
        again = msgspec.json.encode(value)
    except (msgspec.DecodeError, OverflowError, RecursionError):
        return msgspec.UNSET
    if is_too_deep(value, openings=body.count(b"[") + body.count(b"{")):
        return msgspec.UNSET
    # A key that is there twice is in the value once, so a colon is missing.
    return value if again.count(b":") == body.count(b":") else msgspec.UNSET


class Body(AbstractDTO[T]):
    """How the framework reads `data`: by `read`, with the type of the annotation."""

    @classmethod
    def create_for_field_definition(
        cls,
        field_definition: FieldDefinition,
        handler_id: str,
        backend_cls: type[DTOBackend] | None = None,
    ) -> None:
        """There is nothing to generate: the struct is the form."""

    def decode_bytes(self, value: bytes) -> Any:
        return read(value, self.model_type)

    @classmethod
    def generate_field_definitions(
        cls, model_type: type[Any]
    ) -> Generator[DTOFieldDefinition, None, None]:  # pragma: no cover - nothing is generated.
        yield from ()

    @classmethod
    def detect_nested_field(cls, field_definition: FieldDefinition) -> bool:
        return False
