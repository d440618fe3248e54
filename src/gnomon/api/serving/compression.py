"""Gzip for callers who accept it. The others do not pay for the question."""

from __future__ import annotations

from typing import Any

from litestar.config.compression import CompressionConfig
from litestar.middleware.compression import CompressionMiddleware
from litestar.types import ASGIApp, Receive, Send

FROM_BYTES = 1024
LEVEL = 4  # Most of the size for a third of the time.


def compressed(app: ASGIApp) -> ASGIApp:
    """For a call that accepts it. A route that says `is_stream` is left alone."""
    config = CompressionConfig(
        "gzip", minimum_size=FROM_BYTES, gzip_compress_level=LEVEL, exclude_opt_key="is_stream"
    )
    return CompressionMiddleware(app, config)


class Gzip:
    """A middleware where there is no gate, which looks at all headers anyway."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._compressed = compressed(app)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        accepts = any(name == b"accept-encoding" and b"gzip" in value for name, value in scope["headers"])
        await (self._compressed if accepts else self._app)(scope, receive, send)
