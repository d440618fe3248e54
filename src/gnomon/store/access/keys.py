"""API keys over any SQL database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from gnomon.core.access.keys import ApiKey, KeyId, KeySource, parse_scopes
from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.records import Page
from gnomon.core.values.limits import check_limit
from gnomon.errors import KeyNotFound, LastAdminKey, TenantNotFound
from gnomon.store.databases.database import Database, ForeignKeyViolation, Row, Rows, Session
from gnomon.store.databases.rows import LAST_ID, names_of, names_text


class SqlKeys:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, key: ApiKey) -> None:
        try:
            await _insert(self._database, key)
        except ForeignKeyViolation:
            raise TenantNotFound(key.tenant_id) from None

    async def create_first(self, key: ApiKey) -> bool:
        async with self._database.transaction() as session:
            await session.fetch("tenant_lock", tenant_id=key.tenant_id)
            [row] = await session.fetch("keys_exist", tenant_id=key.tenant_id)
            if row["known"]:
                return False
            await _insert(session, key)
        return True

    async def find(self, key_id: KeyId) -> ApiKey:
        rows = await self._database.read("key_find", key_id=key_id)
        if not rows:
            raise KeyNotFound(key_id)
        return _key_of(rows[0])

    async def page(self, tenant_id: TenantId, *, limit: int, after: UUID | None = None) -> Page[ApiKey]:
        check_limit(limit)
        rows = await self._database.read(
            "keys_page", tenant_id=tenant_id, after=after or LAST_ID, limit=limit + 1
        )
        keys = tuple(_key_of(row) for row in rows[:limit])
        return Page(keys, keys[-1].id if len(rows) > limit else None)

    async def revoke(self, tenant_id: TenantId, key_id: KeyId, *, now: datetime) -> ApiKey:
        async with self._database.transaction() as session:
            # One at a time in a tenant, so that two calls cannot revoke the last two admin keys.
            await session.fetch("tenant_lock", tenant_id=tenant_id)
            rows = await session.fetch("key_find", key_id=key_id)
            if not rows or rows[0]["tenant_id"] != tenant_id:
                raise KeyNotFound(key_id)
            key = _key_of(rows[0])
            if key.revoked_at is not None:
                return key
            if key.administers(now):
                [other] = await session.fetch("keys_administer", tenant_id=tenant_id, key_id=key_id, now=now)
                if not other["known"]:
                    raise LastAdminKey(key_id)
            await session.fetch("key_revoke", key_id=key_id, now=now)
        return replace(key, revoked_at=now)

    async def used(self, uses: Mapping[KeyId, datetime]) -> None:
        if uses:
            await self._database.fetch("keys_used", Rows("used_key", ("id", "at"), sorted(uses.items())))


async def _insert(session: Session, key: ApiKey) -> None:
    await session.fetch(
        "key_create",
        key_id=key.id,
        tenant_id=key.tenant_id,
        name=key.name,
        secret_hash=key.secret_hash,
        scopes=names_text(key.scopes),
        created_at=key.created_at,
        expires_at=key.expires_at,
        created_through=key.created_through,
    )


def _key_of(row: Row) -> ApiKey:
    return ApiKey(
        id=KeyId(row["id"]),
        tenant_id=TenantId(row["tenant_id"]),
        name=row["name"],
        secret_hash=row["secret_hash"],
        scopes=parse_scopes(names_of(row["scopes"])),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        created_through=KeySource(source) if (source := row["created_through"]) else None,
        last_used_at=row["last_used_at"],
    )
