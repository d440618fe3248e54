"""What a route asks of its caller. A route without a policy does not mount."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gnomon.core.keys import Scope


class Rate(StrEnum):
    """Classes of calls that are counted apart."""

    SUBMISSION = "submission"
    QUERY = "query"
    HEARTBEAT = "heartbeat"


@dataclass(frozen=True, slots=True)
class Policy:
    """Without a scope, anybody may call. `is_batch` lets the body be larger."""

    scope: Scope | None
    rate: Rate | None
    is_batch: bool = False


PUBLIC = Policy(None, None)
READS = Policy(Scope.READ, Rate.QUERY)
WRITES = Policy(Scope.WRITE, Rate.SUBMISSION)
WRITES_MANY = Policy(Scope.WRITE, Rate.SUBMISSION, is_batch=True)
ADMINISTERS = Policy(Scope.ADMIN, Rate.SUBMISSION)
WORKS = Policy(Scope.WORKER, Rate.HEARTBEAT, is_batch=True)
