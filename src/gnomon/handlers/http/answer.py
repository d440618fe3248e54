"""What a server answered, as far as it is kept. The answer of a stranger: nothing in it is believed."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import AsyncIterable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime

from gnomon.core.values.document import JSON, check_json, keepable_text
from gnomon.core.values.json_text import parse_json
from gnomon.core.values.limits import RESULT_BYTES_MAX
from gnomon.errors import InvalidInput

# A little less than a result may be: the rest is for the status and the headers.
BODY_BYTES_MAX = RESULT_BYTES_MAX - 16 * 1024
RETRY_AFTER_MAX = timedelta(days=1)
HEADERS_KEPT = ("content-type", "date", "etag", "last-modified", "location", "retry-after", "x-request-id")
HEADER_LENGTH_MAX = 1024
EXCERPT_LENGTH_MAX = 300

# Known to be quick. Some codecs that Python has take for ever on a long text, or are none for text.
_CHARSET = re.compile(
    r"charset=\"?(us-ascii|iso-8859-1|iso-8859-15|windows-125[0-2]|utf-16|shift_jis|gb18030)\b"
)


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    status: int
    headers: dict[str, str]  # Lower-case names; the first value of each.
    body: bytes
    truncated: bool

    def result(self) -> JSON:
        kept: dict[str, JSON] = {
            name: keepable_text(self.headers[name], length_max=HEADER_LENGTH_MAX)
            for name in HEADERS_KEPT
            if name in self.headers
        }
        result: dict[str, JSON] = {"status": self.status, "headers": kept, "truncated": self.truncated}
        decoded = self._json()
        if decoded is not None:
            return result | {"json": decoded[0]}
        text = self._text()
        fitting = _fitting(text)
        return result | {"body": fitting, "truncated": self.truncated or len(fitting) < len(text)}

    def excerpt(self) -> str:
        return keepable_text(self._text()[:4096].strip(), length_max=EXCERPT_LENGTH_MAX)

    def retry_after(self) -> timedelta | None:
        """How long the server asks to wait. A date counts from the date of the answer, if it has one."""
        value = self.headers.get("retry-after", "").strip()
        if value.isascii() and value.isdigit():
            return min(timedelta(seconds=min(int(value[:9]), 10**6)), RETRY_AFTER_MAX)
        try:
            wait = parsedate_to_datetime(value) - parsedate_to_datetime(self.headers.get("date", ""))
        except (ValueError, TypeError, OverflowError):
            return None
        return min(max(wait, timedelta(0)), RETRY_AFTER_MAX)

    def _json(self) -> tuple[JSON] | None:
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self.truncated or not (kind == "application/json" or kind.endswith("+json")):
            return None
        try:
            value = parse_json(self.body.decode(json.detect_encoding(self.body)), field="body")
            check_json(value, field="body")
            fits = len(json.dumps(value, ensure_ascii=False).encode()) <= BODY_BYTES_MAX
        except (ValueError, RecursionError, InvalidInput):
            return None
        return (value,) if fits else None

    def _text(self) -> str:
        found = _CHARSET.search(self.headers.get("content-type", "").lower())
        text = self.body.decode(found[1] if found else "utf-8", errors="replace")
        return keepable_text(text, length_max=max(len(text), 1))


async def read_answer(
    status: int, headers: list[tuple[bytes, bytes]], parts: AsyncIterable[bytes]
) -> HttpAnswer:
    """Reads no more than is kept, and unpacks no more either."""
    named: dict[str, str] = {}
    for name, value in headers:
        named.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    unpack = _unpacker(named.get("content-encoding", ""))
    body = bytearray()
    async with aclosing(parts.__aiter__()) as chunks:  # type: ignore[type-var]
        async for chunk in chunks:
            body += chunk if unpack is None else unpack.some(chunk, room=BODY_BYTES_MAX + 1 - len(body))
            if len(body) > BODY_BYTES_MAX:
                break
    truncated = len(body) > BODY_BYTES_MAX
    return HttpAnswer(status, named, bytes(body[:BODY_BYTES_MAX]), truncated)


class _Unpacker:
    """Packed answers although we ask for plain ones. A bomb is unpacked up to the limit and no further."""

    def __init__(self) -> None:
        self._packed = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    def some(self, chunk: bytes, *, room: int) -> bytes:
        return self._packed.decompress(chunk, room)


def _unpacker(encoding: str) -> _Unpacker | None:
    return _Unpacker() if encoding.strip().lower() in ("gzip", "x-gzip", "deflate") else None


def _fitting(text: str) -> str:
    """As much of the text as fits into a result: JSON may need several bytes for a character."""
    while (size := len(json.dumps(text, ensure_ascii=False).encode())) > BODY_BYTES_MAX:
        text = text[: min(len(text) - 1, len(text) * BODY_BYTES_MAX // size)]
    return text
