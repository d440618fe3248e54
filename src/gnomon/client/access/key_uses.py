"""When keys were last used: noted in memory, and written in one batch a minute.

A call costs no write. A process that is killed loses the notes of its last minute.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from gnomon.core.access.keys import KeyId
from gnomon.engine.service import Wakeup
from gnomon.errors import StoreUnavailable
from gnomon.store.protocols.access import KeyStore

EVERY = timedelta(minutes=1)
NOTED_MAX = 10_000


class KeyUses:
    """What one node has seen since the last batch."""

    def __init__(self) -> None:
        self._noted: dict[KeyId, datetime] = {}

    def note(self, key_id: KeyId, at: datetime) -> None:
        if key_id in self._noted or len(self._noted) < NOTED_MAX:
            self._noted[key_id] = at

    def take(self) -> Mapping[KeyId, datetime]:
        noted, self._noted = self._noted, {}
        return noted


class KeyUseWriter:
    """A service: a step writes what was noted. What the store did not take is noted again."""

    def __init__(self, uses: KeyUses, keys: KeyStore) -> None:
        self.wakeup = Wakeup()
        self._uses = uses
        self._keys = keys

    async def step(self) -> timedelta:
        noted = self._uses.take()
        try:
            await self._keys.used(noted)
        except StoreUnavailable:
            for key_id, at in {**noted, **self._uses.take()}.items():
                self._uses.note(key_id, at)
            raise
        return EVERY
