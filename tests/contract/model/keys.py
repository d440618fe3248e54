"""API keys as a dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from gnomon.core.access.keys import ApiKey, KeyId
from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.records import Page
from gnomon.errors import KeyNotFound, LastAdminKey, TenantNotFound
from tests.contract.model.state import State, page_of


@dataclass(frozen=True, slots=True)
class ModelKeys:
    state: State

    async def create(self, key: ApiKey) -> None:
        if key.tenant_id not in self.state.tenants:
            raise TenantNotFound(key.tenant_id)
        self.state.keys[key.id] = key

    async def create_first(self, key: ApiKey) -> bool:
        if any(one.tenant_id == key.tenant_id for one in self.state.keys.values()):
            return False
        await self.create(key)
        return True

    async def find(self, key_id: KeyId) -> ApiKey:
        if key_id not in self.state.keys:
            raise KeyNotFound(key_id)
        return self.state.keys[key_id]

    async def page(self, tenant_id: TenantId, *, limit: int, after: UUID | None = None) -> Page[ApiKey]:
        own = ((key.id, key) for key in self.state.keys.values() if key.tenant_id == tenant_id)
        return page_of(own, limit=limit, after=after)

    async def revoke(self, tenant_id: TenantId, key_id: KeyId, *, now: datetime) -> ApiKey:
        key = self.state.keys.get(key_id)
        if key is None or key.tenant_id != tenant_id:
            raise KeyNotFound(key_id)
        if key.administers(now) and not any(
            one.administers(now)
            for one in self.state.keys.values()
            if one.tenant_id == tenant_id and one.id != key_id
        ):
            raise LastAdminKey(key_id)
        self.state.keys[key_id] = replace(key, revoked_at=key.revoked_at or now)
        return self.state.keys[key_id]

    async def used(self, uses: Mapping[KeyId, datetime]) -> None:
        for key_id, at in uses.items():
            key = self.state.keys.get(key_id)
            if key is not None:
                last = max(at, key.last_used_at or at)
                self.state.keys[key_id] = replace(key, last_used_at=last)
