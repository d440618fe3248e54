"""API keys: what one looks like, what it allows, and how it is told from a forged one.

A key reads `gnm_<id>_<secret><check>`. The id finds the row, the secret proves the right to it, and the
check lets anybody (a scanner of leaked secrets too) see that a text is a key without asking the store. The
secret is 256 random bits, so a plain SHA-256 of it is all that is kept: there is nothing to guess.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from typing import NamedTuple, NewType
from uuid import UUID

from gnomon.core.access.tenants import TenantId
from gnomon.core.values.choices import Choice, choice
from gnomon.core.values.document import check_name
from gnomon.errors import InvalidInput

KeyId = NewType("KeyId", UUID)

PREFIX = "gnm"
SECRET_BYTES = 32
_KEY = re.compile(rf"{PREFIX}_([0-9a-f]{{32}})_([0-9a-f]{{64}})([0-9a-f]{{8}})")


class Scope(Choice):
    """What a key allows. `admin` allows everything."""

    ADMIN = "admin"  # Keys themselves, and all of the below.
    WRITE = "write"  # Make, change, trigger and stop; and read.
    READ = "read"
    WORKER = "worker"  # The worker protocol, and nothing else.


class KeySource(Choice):
    """How a key was made."""

    FIRST_START = "first_start"  # By the first process that served the API on this database.
    API = "api"  # By a call with an admin key.
    DATABASE = "database"  # By `gnomon key create --database`, for those who can write the store.


_INCLUDED: dict[Scope, frozenset[Scope]] = {
    Scope.ADMIN: frozenset(Scope),
    Scope.WRITE: frozenset({Scope.WRITE, Scope.READ}),
    Scope.READ: frozenset({Scope.READ}),
    Scope.WORKER: frozenset({Scope.WORKER}),
}
_INCLUDING = {scope: frozenset(own for own in Scope if scope in _INCLUDED[own]) for scope in Scope}


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is kept. The secret itself is not."""

    id: KeyId
    tenant_id: TenantId
    name: str
    secret_hash: str
    scopes: frozenset[Scope]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    created_through: KeySource | None = None  # None: made by a release that did not keep it.
    last_used_at: datetime | None = None  # To about a minute: nodes write it in batches.

    def __post_init__(self) -> None:
        check_name(self.name, field="name")
        if not self.scopes:
            raise InvalidInput("scopes", f"must name at least one of {', '.join(Scope)}.")
        if self.expires_at is not None and self.expires_at <= self.created_at:
            raise InvalidInput("expires_at", "must lie in the future.")

    def is_valid(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def administers(self, now: datetime) -> bool:
        return self.is_valid(now) and self.allows(Scope.ADMIN)

    def allows(self, scope: Scope) -> bool:
        return not _INCLUDING[scope].isdisjoint(self.scopes)


class Presented(NamedTuple):
    """What a caller shows: whose key it claims to be, and the proof."""

    id: KeyId
    secret: str

    def opens(self, key: ApiKey) -> bool:
        return compare_digest(hash_of(self.secret), key.secret_hash)


def key_text(id: KeyId, secret: bytes) -> str:
    """The key as its owner gets it, once."""
    assert len(secret) == SECRET_BYTES
    return f"{PREFIX}_{id.hex}_{secret.hex()}{_check(id.hex, secret.hex())}"


def parse_key(text: str) -> Presented | None:
    """None if the text cannot be a key, whoever made it."""
    found = _KEY.fullmatch(text)
    if found is None or found[3] != _check(found[1], found[2]):
        return None
    return Presented(KeyId(UUID(hex=found[1])), found[2])


def hash_of(secret: str) -> str:
    return sha256(bytes.fromhex(secret)).hexdigest()


def parse_scopes(words: Collection[str]) -> frozenset[Scope]:
    """Raises InvalidInput."""
    return frozenset(choice(Scope, word, field="scopes") for word in words)


def _check(id_hex: str, secret_hex: str) -> str:
    return sha256(f"{id_hex}_{secret_hex}".encode()).hexdigest()[:8]
