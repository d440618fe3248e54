"""What an administrator does with API keys."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from gnomon.client.context import ClientContext
from gnomon.core.access.keys import (
    SECRET_BYTES,
    ApiKey,
    KeyId,
    KeySource,
    Scope,
    hash_of,
    key_text,
    parse_scopes,
)
from gnomon.core.executions.records import Page
from gnomon.core.values.instants import check_instant
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT

FIRST_NAME = "first"


class NewKey(NamedTuple):
    """A key with its text, which exists nowhere else: show it now, or never."""

    key: ApiKey
    text: str


class Keys:
    def __init__(self, context: ClientContext) -> None:
        self._context = context
        self._keys = context.store.keys

    async def create(
        self,
        name: str,
        scopes: Collection[str],
        *,
        expires_at: datetime | None = None,
        through: KeySource = KeySource.API,
    ) -> NewKey:
        """Raises InvalidInput."""
        new = self._new(name, parse_scopes(scopes), expires_at, through)
        await self._keys.create(new.key)
        return new

    async def create_first(self) -> NewKey | None:
        """A key for everything, if there has never been one. None if there has."""
        new = self._new(FIRST_NAME, frozenset({Scope.ADMIN}), None, KeySource.FIRST_START)
        return new if await self._keys.create_first(new.key) else None

    async def find(self, key_id: KeyId) -> ApiKey:
        """Of any tenant. Raises KeyNotFound."""
        return await self._keys.find(key_id)

    async def list(self, *, limit: int = PAGE_LIMIT_DEFAULT, after: UUID | None = None) -> Page[ApiKey]:
        """Newest first, revoked and expired ones too."""
        return await self._keys.page(self._context.tenant_id, limit=limit, after=after)

    async def revoke(self, key_id: KeyId) -> ApiKey:
        """For good; every node refuses it within seconds. Raises KeyNotFound, LastAdminKey."""
        return await self._keys.revoke(self._context.tenant_id, key_id, now=self._context.clock.now())

    def _new(
        self, name: str, scopes: frozenset[Scope], expires_at: datetime | None, through: KeySource
    ) -> NewKey:
        now = self._context.clock.now()
        key_id, secret = KeyId(self._context.ids.next(now)), secrets.token_bytes(SECRET_BYTES)
        until = None if expires_at is None else check_instant(expires_at, field="expires_at")
        proof = hash_of(secret.hex())
        key = ApiKey(
            key_id, self._context.tenant_id, name, proof, scopes, now, until, created_through=through
        )
        return NewKey(key, key_text(key_id, secret))
