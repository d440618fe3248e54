"""How many connections the limit of open files leaves room for."""

from __future__ import annotations

import logging
import resource

logger = logging.getLogger(__name__)

# For the store, its hints, scripts, functions and logs: connections never take these.
RESERVE = 256


def room_for_connections(wanted: int) -> int:
    """Raises the soft limit of this process as far as needed and allowed. At most `wanted`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + RESERVE
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    room = max(soft - RESERVE, soft // 2)
    logger.warning("the limit of open files (ulimit -Hn) leaves room for %d of %d connections", room, wanted)
    return room
