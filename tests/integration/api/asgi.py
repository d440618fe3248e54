"""A client below HTTP: what a server would tell the application, message by message."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from tests.integration.api.conftest import Office

PATIENCE_SECONDS = 20


@dataclass
class Line:
    """One connection. What is put into `incoming` reaches the application; what it sends is in `sent`."""

    office: Office
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    method: str = "GET"
    type: str = "http"
    query: bytes = b""
    extensions: dict[str, Any] = field(default_factory=dict)
    client: tuple[str, str] = ("192.0.2.1", "5000")
    incoming: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    sent: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)

    async def call(self) -> None:
        scope = {
            "type": self.type,
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "path": self.path,
            "raw_path": self.path.encode(),
            "query_string": self.query,
            "headers": [(name.lower().encode(), value.encode()) for name, value in self.headers.items()],
            "subprotocols": [],
            "extensions": self.extensions,
            "client": self.client,
        }
        if self.type == "http":
            scope["method"] = self.method
        else:
            self.incoming.put_nowait({"type": "websocket.connect"})
        await self.office.app(scope, self.incoming.get, self.sent.put)

    async def message(self, wanted: str) -> Any:
        """The next message of a type. Others are passed by."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (message := await self.sent.get())["type"] != wanted:
                pass
        return message
