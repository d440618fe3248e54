"""What user code leaves behind when its process ends: tasks that swallow a cancellation, and threads."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

PATIENCE = timedelta(seconds=1)
LOOK_AGAIN = timedelta(milliseconds=10)


async def left_behind(threads: ThreadPoolExecutor) -> list[str]:
    """Tell all other tasks, and the threads of the loop's executor, to end. Returns who does not."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    stubborn = (await asyncio.wait(tasks, timeout=PATIENCE.total_seconds()))[1] if tasks else set()
    threads.shutdown(wait=False, cancel_futures=True)
    for _ in range(PATIENCE // LOOK_AGAIN):
        if not _threads():
            break
        await asyncio.sleep(LOOK_AGAIN.total_seconds())
    return sorted([*(task.get_name() for task in stubborn), *_threads()])


def _threads() -> list[str]:
    """Those that Python waits for at its end."""
    main = threading.main_thread()
    return [one.name for one in threading.enumerate() if one is not main and not one.daemon]
