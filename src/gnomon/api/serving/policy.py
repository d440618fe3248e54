"""What a route asks of its caller. A route without a policy does not mount."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gnomon.core.access.keys import ApiKey, Scope


class Rate(StrEnum):
    """Classes of calls that are counted apart."""

    SUBMISSION = "submission"
    QUERY = "query"
    HEARTBEAT = "heartbeat"
    KEY = "key"  # Calls of /v1/keys, by key: an admin gets there whatever the tenant has used up.
    REFUSAL = "refusal"  # Calls that were refused, by address or by key.


@dataclass(frozen=True, slots=True)
class Policy:
    """Without a scope, anybody may call. `or_scope` will do as well. `is_batch` lets the body be larger."""

    scope: Scope | None
    rate: Rate | None
    is_batch: bool = False
    or_scope: Scope | None = None

    def lets(self, key: ApiKey) -> bool:
        if self.scope is not None and key.allows(self.scope):
            return True
        return self.or_scope is not None and key.allows(self.or_scope)


PUBLIC = Policy(None, None)
READS = Policy(Scope.READ, Rate.QUERY)
# A worker looks for who else has its name.
READS_OR_WORKS = Policy(Scope.READ, Rate.QUERY, or_scope=Scope.WORKER)
WRITES = Policy(Scope.WRITE, Rate.SUBMISSION)
WRITES_MANY = Policy(Scope.WRITE, Rate.SUBMISSION, is_batch=True)
ADMINISTERS = Policy(Scope.ADMIN, Rate.SUBMISSION)
KEEPS_KEYS = Policy(Scope.ADMIN, Rate.KEY)
WORKS = Policy(Scope.WORKER, Rate.HEARTBEAT, is_batch=True)
