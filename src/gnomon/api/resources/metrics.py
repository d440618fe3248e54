"""Figures over HTTP, for a key that may read."""

from __future__ import annotations

from typing import Any

from litestar import Response, get

from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import READS
from gnomon.health.metrics import CONTENT_TYPE


@get("/metrics", policy=READS, media_type="text/plain")
async def metrics(request: Call) -> Response[bytes]:
    """In the text format of Prometheus."""
    now = request.now
    text = request.metrics.text(await request.reports.now(now), now=now)
    # As a header: to a media type, a second charset would be added.
    return Response(text, headers={"Content-Type": CONTENT_TYPE})


ROUTES: list[Any] = [metrics]
