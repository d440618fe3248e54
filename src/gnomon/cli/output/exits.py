"""How the program ends: its exit codes, and the one line that tells of an error."""

from __future__ import annotations

from gnomon.cli.output.terminal import printable
from gnomon.errors import (
    GnomonError,
    InvalidInput,
    NoKey,
    NotFound,
    ServerRefused,
    ServerUnreachable,
    StoreTaken,
)

DONE, FAILED, WRONG_USAGE, UNKNOWN, NOT_FOUND, UNREACHABLE, NOT_ALLOWED = range(7)

_BY_STATUS = {
    400: WRONG_USAGE,
    401: NOT_ALLOWED,
    403: NOT_ALLOWED,
    404: NOT_FOUND,
    413: WRONG_USAGE,
    429: UNREACHABLE,
    502: UNREACHABLE,
    503: UNREACHABLE,
    504: UNREACHABLE,
}


def exit_code(error: GnomonError) -> int:
    """2 where the call must be changed: it was wrong, or what it asks for is taken. Else 1.

    Of those that talk to a server: 4 for what it does not have, 5 if it does not answer, 6 for a key that is
    missing or is not accepted.
    """
    match error:
        case ServerRefused():
            return _BY_STATUS.get(error.http_status, FAILED)
        case ServerUnreachable():
            return UNREACHABLE
        case NoKey():
            return NOT_ALLOWED
        case NotFound():
            return NOT_FOUND
        case InvalidInput() | StoreTaken():
            return WRONG_USAGE
        case _:
            return FAILED


def line(error: GnomonError) -> str:
    words = [str(error), *getattr(error, "__notes__", ())]
    if isinstance(error, ServerRefused) and error.request_id:
        words.append(f"(request {error.request_id})")
    return f"gnomon: {printable(' '.join(' '.join(words).split()))} [{error.code}]"
