"""Is this node alive, can it serve, and what is it: for probes, without a key."""

from __future__ import annotations

from typing import Any

from litestar import get

from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import PUBLIC
from gnomon.health.checks import Alive, Ready, Version, readiness


@get("/livez", policy=PUBLIC)
async def livez() -> Alive:
    """This process answers. Nothing else is looked at."""
    return Alive()


@get("/readyz", policy=PUBLIC)
async def readyz(request: Call) -> Ready:
    """The store answers, its schema is ours, what is due gets fired, and what runs here gets on."""
    return readiness(await request.vitals.look(), request.vitals.age)


@get("/version", policy=PUBLIC)
async def version(request: Call) -> Version:
    """The name, the version of this release, and that of the API."""
    return Version(version=request.release)


ROUTES: list[Any] = [livez, readyz, version]
