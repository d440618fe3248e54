"""What goes over HTTP, for both ends: strict forms in, answers out."""

from __future__ import annotations

import msgspec


class Form(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a caller may send. A field that is not known is an error that names it."""


class Answer(msgspec.Struct, kw_only=True):
    """What a caller gets."""
