"""Puts values in place of the references of a template, and measures before it puts.

A template of 200 KB can name a value of 200 KB many thousand times. The size of each value is added up before
the value is used. From the first one on that does not fit, values are only counted, so rendering never holds
more than the template, the values and `bytes_max`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

import msgspec

from gnomon.core.values.document import DOCUMENT_BYTES_MAX, JSON, Document
from gnomon.core.workflows.references import HOLE, Values, look_up, read_hole
from gnomon.errors import PayloadTooLarge

_NULL_BYTES = len("null")
_QUOTES_BYTES = len('""')

_encode = msgspec.json.Encoder().encode


def rendered(
    template: JSON, values: Values, *, field: str, bytes_max: int = DOCUMENT_BYTES_MAX
) -> tuple[JSON, Document]:
    """The template with every reference replaced, as a value and as a document.

    Raises PayloadTooLarge with the size that it would have, InvalidInput and Unresolved.
    """
    renderer = _Renderer(values, bytes_max)
    value = renderer.value(template)
    if renderer.room_bytes < 0:
        size_bytes = len(_encode(value)) + renderer.left_out_bytes
        raise PayloadTooLarge(field, size_bytes=size_bytes, size_bytes_max=bytes_max)
    return value, Document.of(value, field=field, bytes_max=bytes_max)


@dataclass(slots=True)
class _Renderer:
    values: Values
    room_bytes: int
    left_out_bytes: int = 0
    # By the identity of a value, which is held here too: one that is used a thousand times is measured once.
    _sizes: dict[tuple[int, bool], tuple[int, JSON]] = field(default_factory=dict)

    def value(self, template: JSON) -> JSON:
        """As deep as the template, which a document bounds."""
        if isinstance(template, dict):
            return {key: self.value(inner) for key, inner in template.items()}
        if isinstance(template, list):
            return [self.value(inner) for inner in template]
        if not isinstance(template, str) or "${" not in template:
            return template
        whole = HOLE.fullmatch(template)
        if whole and not whole[1]:
            return self._whole(whole)
        return HOLE.sub(self._part, template)

    def _whole(self, hole: re.Match[str]) -> JSON:
        value = look_up(read_hole(hole, field="template"), self.values)
        return value if self._fits(value, is_part=False) else None

    def _part(self, hole: re.Match[str]) -> str:
        if hole[1]:
            return hole[0][1:]
        value = look_up(read_hole(hole, field="template"), self.values)
        return _text(value) if self._fits(value, is_part=True) else ""

    def _fits(self, value: JSON, *, is_part: bool) -> bool:
        key = (id(value), is_part)
        if key not in self._sizes:
            # A part is inside of a string: without quotes of its own, and escaped as the string is.
            size = len(_encode(_text(value))) - _QUOTES_BYTES if is_part else len(_encode(value))
            self._sizes[key] = size, value
        size, _ = self._sizes[key]
        self.room_bytes -= size
        if self.room_bytes >= 0:
            return True
        self.left_out_bytes += size if is_part else size - _NULL_BYTES
        return False


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
