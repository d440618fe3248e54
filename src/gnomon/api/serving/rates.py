"""How many calls a tenant, a key or an address may make in a minute, by class; each node counts alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime

from gnomon.api.serving.policy import Rate
from gnomon.errors import RateLimited

WINDOW_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Quota:
    """What is left of a window, for the headers of an answer."""

    limit: int
    remaining: int
    reset: int  # In seconds since 1970, as the header wants it.

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
        # All windows end together, and are forgotten together.
        self._ends = 0
        self._taken: dict[tuple[Hashable, Rate], int] = {}

    def take(self, holder: Hashable, rate: Rate) -> Quota | None:
        """None if this class is not limited. Raises RateLimited."""
        limit = self._limits[rate]
        if limit is None:
            return None
        now = int(self._now().timestamp())
        if now >= self._ends:
            self._ends = now - now % WINDOW_SECONDS + WINDOW_SECONDS
            self._taken.clear()
        taken = self._taken[holder, rate] = self._taken.get((holder, rate), 0) + 1
        if taken > limit:
            raise RateLimited(limit=limit, retry_after_seconds=self._ends - now, reset=self._ends)
        return Quota(limit, limit - taken, self._ends)
