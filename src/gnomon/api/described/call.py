"""What is said of a call beside its docstring: parameters, examples of bodies, headers and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gnomon.api.described.field import Rows
from gnomon.errors import GnomonError

Refusal = type[GnomonError]


@dataclass(frozen=True, slots=True)
class CallDescription:
    """`refusals` are those that do not follow from its parameters, its body and its policy.

    `bodies` are named examples. `takes_key`: an `Idempotency-Key`; `takes_version`: an `If-Match`. `tags`:
    the answer has an `ETag`; `locates`: it has a `Location`. `answer` is an example of one without a struct.
    """

    summary: str
    parameters: Rows = field(default_factory=dict)
    bodies: Mapping[str, Any] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()
    takes_key: bool = False
    takes_version: bool = False
    tags: bool = False
    locates: bool = False
    answer: Any = ""


Calls = Mapping[str, CallDescription]  # By the name of the handler.
