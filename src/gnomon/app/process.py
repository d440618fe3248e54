"""A process around an engine: signals, and what is left behind when it ends."""

from __future__ import annotations

import asyncio
import logging
import os
import signal

from gnomon.app.engine import Engine

logger = logging.getLogger(__name__)

EXIT_AT_ONCE = 3


async def run_until_told(engine: Engine) -> None:
    """Run until SIGTERM or SIGINT. The first one drains, the second hurries, the third exits."""
    loop = asyncio.get_running_loop()
    told = _Told(engine)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told, number)
    try:
        await engine.node.run()
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


class _Told:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._times = 0

    def __call__(self, number: signal.Signals) -> None:
        self._times += 1
        match self._times:
            case 1:
                logger.info("%s: draining; send it again to hurry", number.name)
                self._engine.node.drain()
            case 2:
                logger.info("%s again: giving back what still runs", number.name)
                self._engine.node.hurry()
            case _:
                os._exit(EXIT_AT_ONCE)
