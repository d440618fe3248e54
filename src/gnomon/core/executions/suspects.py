"""Suspects: executions whose worker died while they ran.

It is not known which of those that ran there was to blame. So each is tried again alone: by a worker that
holds nothing else, and starts nothing beside it until its end is written. What does not crash then is a
suspect no more. What does has only itself to blame, and `crash_limit` of its retry policy counts it.
"""

from __future__ import annotations

from datetime import timedelta

# A worker that is empty takes a suspect at once. One that is busy stops claiming for it after this time.
PATIENCE = timedelta(seconds=5)
# A worker that stopped claiming, and has not asked again for so long, waits no more.
RESERVED_FOR = timedelta(seconds=30)
# What runs there may take longer than all other work should wait. Then the worker claims again, and may stop
# the next time so long after it began to; another worker may at once.
RESERVED_MAX = timedelta(minutes=5)
RESERVED_AGAIN_AFTER = timedelta(minutes=30)
