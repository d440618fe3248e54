"""How much of anything there may be. Every limit is a name with its unit."""

from __future__ import annotations

from gnomon.errors import InvalidInput

PAGE_LIMIT_DEFAULT = 50
PAGE_LIMIT_MAX = 1000
ENQUEUE_BATCH_MAX = 10_000
MAX_CONCURRENT_MAX = 100_000
CHECKPOINT_BYTES_MAX = 1024 * 1024
RESULT_BYTES_MAX = 1024 * 1024
NOTE_BYTES_MAX = 16 * 1024  # What a person says about a decision.

LOG_LINE_BYTES_MAX = 16 * 1024
LOG_LINES_MAX = 100_000  # Per execution.
LOG_BYTES_MAX = 10_000_000  # Per execution.
LOG_CUT_MARKER = " [cut: {left_out} bytes left out]"


def check_limit(limit: object, *, limit_max: int = PAGE_LIMIT_MAX) -> int:
    """How many items a caller may ask for at once. Refuses rather than gives fewer than asked."""
    if type(limit) is not int or not 1 <= limit <= limit_max:
        raise InvalidInput("limit", f"{limit!r} is not a whole number from 1 to {limit_max}.")
    return limit


def check_batch(size: int, *, field: str, size_max: int = ENQUEUE_BATCH_MAX) -> None:
    if size > size_max:
        raise InvalidInput(field, f"{size} in one call; at most {size_max} are accepted. Send them in parts.")


def cut_line(line: str) -> str:
    """The line, cut at a whole character to LOG_LINE_BYTES_MAX with a marker that says how much is gone."""
    if len(line) * 4 <= LOG_LINE_BYTES_MAX:
        return line  # Four bytes is the longest that a character gets: no need to count.
    encoded = line.encode(errors="replace")
    if len(encoded) <= LOG_LINE_BYTES_MAX:
        return line
    room = LOG_LINE_BYTES_MAX - len(LOG_CUT_MARKER.format(left_out=len(encoded)))
    kept = encoded[:room].decode(errors="ignore")
    return kept + LOG_CUT_MARKER.format(left_out=len(encoded) - len(kept.encode()))
