"""How many calls a tenant may make in a minute, by class. Each node counts for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from gnomon.api.policy import Rate
from gnomon.core.job import TenantId
from gnomon.errors import RateLimited

WINDOW_SECONDS = 60


@dataclass(slots=True)
class _Window:
    ends: int  # In seconds since 1970, as the header wants it.
    taken: int = 0


@dataclass(frozen=True, slots=True)
class Quota:
    """What is left of a window, for the headers of an answer."""

    limit: int
    remaining: int
    reset: int

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        return [
            (b"x-ratelimit-limit", b"%d" % self.limit),
            (b"x-ratelimit-remaining", b"%d" % self.remaining),
            (b"x-ratelimit-reset", b"%d" % self.reset),
        ]


class Rates:
    def __init__(self, limits: Mapping[Rate, int | None], now: Callable[[], datetime]) -> None:
        self._limits = limits
        self._now = now
        self._windows: dict[tuple[TenantId, Rate], _Window] = {}

    def take(self, tenant_id: TenantId, rate: Rate) -> Quota | None:
        """None if this class is not limited. Raises RateLimited."""
        limit = self._limits[rate]
        if limit is None:
            return None
        now = int(self._now().timestamp())
        window = self._windows.get((tenant_id, rate))
        if window is None or window.ends <= now:
            window = _Window(now - now % WINDOW_SECONDS + WINDOW_SECONDS)
            self._windows[tenant_id, rate] = window
        window.taken += 1
        if window.taken > limit:
            raise RateLimited(limit=limit, retry_after_seconds=window.ends - now)
        return Quota(limit, limit - window.taken, window.ends)
