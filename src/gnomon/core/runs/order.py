"""The time at which something happens to a run: never before what happened to it before.

Processes read clocks of their own, and one that waits for the lock of a run read its clock before it had to
wait. So of two parents of a task, the one whose end is written last need not be the one with the later time.
What follows both must begin after both. See docs/adr/0031-the-order-in-a-run.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from gnomon.core.executions.lease import LEASE

# A decision that lies back further was overtaken by the expiry of its lease. Where time lies further back
# than that, the clock was set back, and runs do not wait until it has caught up.
BEHIND_MAX = LEASE


def not_before(now: datetime, moved_at: Iterable[datetime | None]) -> datetime:
    """`now`, or when one of the runs was moved last. None: it was not moved since it began."""
    return max([now, *(one for one in moved_at if one is not None and one - now <= BEHIND_MAX)])
