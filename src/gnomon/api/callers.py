"""Who calls: from the header of a request to a key, and to the client of its tenant.

A key that was found is remembered for a few seconds, so a key that is revoked elsewhere is refused here soon.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from gnomon.client import Client
from gnomon.core.keys import ApiKey, KeyId, Presented, parse_key
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
    def __init__(self, client: Client, now: Callable[[], datetime]) -> None:
        self._client = client
        self._now = now
        self._known: dict[KeyId, tuple[Caller, datetime]] = {}

    async def of(self, authorization: str | None) -> Caller:
        """Raises Unauthorized, whatever the reason."""
        scheme, word = (authorization or "")[: len(_BEARER)], (authorization or "")[len(_BEARER) :]
        shown = parse_key(word.strip()) if scheme.lower() == _BEARER else None
        if shown is None:
            raise Unauthorized
        now = self._now()
        caller = await self._find(shown, now)
        if not shown.opens(caller.key) or not caller.key.is_valid(now):
            raise Unauthorized
        return caller

    async def _find(self, shown: Presented, now: datetime) -> Caller:
        known = self._known.get(shown.id)
        if known is not None and now - known[1] < REMEMBERED:
            return known[0]
        try:
            key = await self._client.keys.find(shown.id)
        except KeyNotFound:
            raise Unauthorized from None
        if len(self._known) >= KEYS_MAX:
            self._known.clear()
        caller = Caller(key, self._client.of(key.tenant_id))
        self._known[key.id] = (caller, now)
        return caller

    def forget(self, key_id: KeyId) -> None:
        """Revoked through this node: refused here at once."""
        self._known.pop(key_id, None)
