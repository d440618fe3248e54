"""Tenants: who owns jobs, and how much of one may run at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType
from uuid import UUID

from gnomon.core.values.document import check_name
from gnomon.core.values.limits import MAX_CONCURRENT_MAX
from gnomon.errors import InvalidInput

TenantId = NewType("TenantId", UUID)

DEFAULT_TENANT = TenantId(UUID("00000000-0000-7000-8000-000000000000"))


@dataclass(frozen=True, slots=True)
class Tenant:
    id: TenantId
    name: str
    weight: int = 1
    max_concurrent: int | None = None

    def __post_init__(self) -> None:
        check_name(self.name, field="name")
        if type(self.weight) is not int or not 1 <= self.weight <= 1000:
            raise InvalidInput("weight", "must be a whole number from 1 to 1000.")
        if self.max_concurrent is not None and (
            type(self.max_concurrent) is not int or not 1 <= self.max_concurrent <= MAX_CONCURRENT_MAX
        ):
            raise InvalidInput("max_concurrent", f"must be a whole number from 1 to {MAX_CONCURRENT_MAX}.")
