"""What the rest of Gnomon needs from durable tenants and keys."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol
from uuid import UUID

from gnomon.core.access.keys import ApiKey, KeyId
from gnomon.core.access.tenants import Tenant, TenantId
from gnomon.core.executions.records import (
    Page,
)


class TenantStore(Protocol):
    async def save(self, tenant: Tenant, *, now: datetime) -> None:
        """Create or replace."""

    async def get(self, tenant_id: TenantId) -> Tenant: ...


class KeyStore(Protocol):
    """Who may call. Secrets are not kept, only what proves them."""

    async def create(self, key: ApiKey) -> None:
        """Raises TenantNotFound."""

    async def create_first(self, key: ApiKey) -> bool:
        """Create it if its tenant has never had a key. Of many who try at once, one is told True."""

    async def find(self, key_id: KeyId) -> ApiKey:
        """Of any tenant, revoked and expired ones too. Raises KeyNotFound."""

    async def page(self, tenant_id: TenantId, *, limit: int, after: UUID | None = None) -> Page[ApiKey]: ...

    async def revoke(self, tenant_id: TenantId, key_id: KeyId, *, now: datetime) -> ApiKey:
        """For good. Repeated, the first time counts. Raises KeyNotFound.

        Raises LastAdminKey if no other key of the tenant would administer it. Two calls at once cannot
        revoke the last two.
        """

    async def used(self, uses: Mapping[KeyId, datetime]) -> None:
        """Keep when keys were last used. A later time wins; keys that are gone are passed over."""
