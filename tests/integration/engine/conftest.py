from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.integration.engine.rig import Rig, open_rig


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with open_rig() as opened:
        yield opened
