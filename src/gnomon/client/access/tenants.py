"""What an administrator does with the tenant: how much of it may run at once."""

from __future__ import annotations

from dataclasses import replace

from gnomon.client.context import ClientContext
from gnomon.core.access.tenants import Tenant


class Tenants:
    def __init__(self, context: ClientContext) -> None:
        self._context = context
        self._tenants = context.store.tenants

    async def get(self) -> Tenant:
        return await self._tenants.get(self._context.tenant_id)

    async def limit(self, max_concurrent: int | None) -> Tenant:
        """Workers know it within a second. What runs goes on. None: no limit. Raises InvalidInput."""
        tenant = replace(await self.get(), max_concurrent=max_concurrent)
        await self._tenants.save(tenant, now=self._context.clock.now())
        return tenant
