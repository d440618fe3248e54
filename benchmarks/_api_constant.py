"""A process that answers a constant: the framework, the server and the loop of the API, nothing behind."""

from __future__ import annotations

import asyncio
import sys

import uvloop
from litestar import Litestar, get

from gnomon.app.processes.serving import served
from gnomon.settings import ApiSettings


@get("/constant")
async def constant() -> dict[str, str]:
    return {"answer": "always the same"}


async def main(port: int) -> None:
    app = Litestar([constant], openapi_config=None, logging_config=None)
    async with served(app, ApiSettings(port=port), closing=asyncio.Event()):
        await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
