"""The tenant of the caller over HTTP: how much of it may run at once."""

from __future__ import annotations

from typing import Any

from litestar import get, put
from litestar.params import JSONBody

from gnomon.api.forms.reading import Body
from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import ADMINISTERS, READS
from gnomon.core.access.tenants import Tenant
from gnomon.core.values.forms import Answer, Form


class TenantForm(Form):
    max_concurrent: int | None


class TenantAnswer(Answer):
    tenant_id: str
    name: str
    max_concurrent: int | None


@get("/v1/tenant", policy=READS)
async def get_tenant(request: Call) -> TenantAnswer:
    """The tenant of the key, and how much of it may run at once."""
    return _answer(await request.verbs.tenants.get())


@put("/v1/tenant", policy=ADMINISTERS, dto=Body[TenantForm], return_dto=None)
async def change_tenant(data: JSONBody[TenantForm], request: Call) -> TenantAnswer:
    """Workers know it within a second. What runs goes on; `null`: no limit."""
    return _answer(await request.verbs.tenants.limit(data.max_concurrent))


def _answer(tenant: Tenant) -> TenantAnswer:
    return TenantAnswer(tenant_id=str(tenant.id), name=tenant.name, max_concurrent=tenant.max_concurrent)


ROUTES: list[Any] = [get_tenant, change_tenant]
