"""How the program ends: its exit codes, and the one line that tells of an error."""

from __future__ import annotations

from gnomon.errors import GnomonError, InvalidInput, StoreTaken

DONE, FAILED, WRONG_USAGE, UNKNOWN = 0, 1, 2, 3


def exit_code(error: GnomonError) -> int:
    """2 where the call must be changed: it was wrong, or what it asks for is taken. Else 1."""
    return WRONG_USAGE if isinstance(error, InvalidInput | StoreTaken) else FAILED


def line(error: GnomonError) -> str:
    words = [str(error), *getattr(error, "__notes__", ())]
    return f"gnomon: {' '.join(' '.join(words).split())} [{error.code}]"
