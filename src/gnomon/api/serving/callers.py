"""Who calls: from the header of a request to a key, and to the client of its tenant.

A key that was proven is remembered for a few seconds, so one that is revoked elsewhere is refused here soon.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from gnomon.client import Client
from gnomon.core.access.keys import ApiKey, KeyId, parse_key
from gnomon.core.access.tenants import TenantId
from gnomon.errors import KeyNotFound, Unauthorized

# Revoked or expired keys are refused everywhere within ten seconds; this leaves room for a slow store.
REMEMBERED = timedelta(seconds=5)
KEYS_MAX = 10_000
_BEARER = "bearer "


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody with a valid key. `client` sees the tenant of the key, and no other."""

    key: ApiKey
    client: Client


class Callers:
    """`used` is told when a key was proven: not at each call, but every few seconds while it calls."""

    def __init__(
        self,
        client: Client,
        now: Callable[[], datetime],
        *,
        used: Callable[[KeyId, datetime], None],
    ) -> None:
        self._client = client
        self._now = now
        self._used = used
        # By the hash of the header that proved it, and until when: the key itself is kept nowhere.
        self._known: dict[bytes, tuple[Caller, datetime]] = {}
        # One for all keys of a tenant: those who look at the same moment share a look.
        self._clients: dict[TenantId, Client] = {}

    def remembered(self, authorization: bytes) -> Caller | None:
        """Without a question to the store. Of a busy caller, nearly every call."""
        known = self._known.get(sha256(authorization).digest())
        return known[0] if known is not None and self._now() < known[1] else None

    async def of(self, authorization: bytes) -> Caller:
        """Raises Unauthorized, whatever the reason."""
        if (known := self.remembered(authorization)) is not None:
            return known
        now, mark = self._now(), sha256(authorization).digest()
        caller = await self._proven(authorization.decode("latin-1"), now)
        if len(self._known) >= KEYS_MAX:
            self._known.clear()
            self._clients.clear()
        until, ends = now + REMEMBERED, caller.key.expires_at
        self._known[mark] = (caller, until if ends is None else min(until, ends))
        return caller

    async def _proven(self, authorization: str, now: datetime) -> Caller:
        scheme, word = authorization[: len(_BEARER)], authorization[len(_BEARER) :]
        shown = parse_key(word.strip()) if scheme.lower() == _BEARER else None
        if shown is None:
            raise Unauthorized
        try:
            key = await self._client.keys.find(shown.id)
        except KeyNotFound:
            raise Unauthorized from None
        if not shown.opens(key) or not key.is_valid(now):
            raise Unauthorized
        self._used(key.id, now)
        return Caller(key, self._client_of(key.tenant_id))

    def _client_of(self, tenant_id: TenantId) -> Client:
        client = self._clients.get(tenant_id)
        if client is None:
            client = self._clients[tenant_id] = self._client.of(tenant_id)
        return client

    async def is_valid(self, key_id: KeyId) -> bool:
        """Asks the store, whatever is remembered."""
        try:
            key = await self._client.keys.find(key_id)
        except KeyNotFound:
            return False
        now = self._now()
        is_valid = key.is_valid(now)
        if is_valid:
            self._used(key_id, now)
        return is_valid

    def forget(self, key_id: KeyId) -> None:
        """Revoked through this node: refused here at once."""
        self._known = {mark: one for mark, one in self._known.items() if one[0].key.id != key_id}
