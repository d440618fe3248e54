"""The API described by itself: OpenAPI 3.1, and a page for people that needs nothing from elsewhere."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

from litestar import Response, get

from gnomon.api.described.page import page
from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import PUBLIC

# No script, nothing from elsewhere, and nobody may put the page into a frame.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
# What the page may print in a command: the header of a call could hold anything.
_ADDRESS = re.compile(r"https?://(?:[A-Za-z0-9._-]{1,253}|\[[0-9a-fA-F:.]{2,45}\])(?::[0-9]{1,5})?")
_DEFAULT_ADDRESS = "http://127.0.0.1:8484"


@cache
def _style() -> bytes:
    return (files("gnomon.api") / "docs.css").read_bytes()


def address_of(request: Call) -> str:
    """Where the caller reached this server, for the commands of the page."""
    said = str(request.base_url).rstrip("/")
    return said if _ADDRESS.fullmatch(said) else _DEFAULT_ADDRESS


@get("/openapi.json", policy=PUBLIC)
async def openapi(request: Call) -> Response[dict[str, Any]]:
    """This API as OpenAPI 3.1."""
    return Response(request.description())


@get("/docs", policy=PUBLIC, media_type="text/html")
async def docs(request: Call) -> Response[str]:
    """This API for people."""
    return Response(
        page(request.description(), address_of(request)), media_type="text/html", headers=_HEADERS
    )


@get("/docs/style.css", policy=PUBLIC, media_type="text/css")
async def style() -> Response[bytes]:
    """What the page about the API looks like."""
    return Response(_style(), media_type="text/css", headers=_HEADERS)


ROUTES: list[Any] = [openapi, docs, style]
