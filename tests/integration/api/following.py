"""The events after a place, read from the stream."""

from __future__ import annotations

import json
from typing import Any

from tests.integration.api.conftest import Office

OLDEST = "0-0-0"


async def all_after(office: Office, after: str = OLDEST, **wanted: Any) -> list[dict[str, Any]]:
    """All that a reader gets who comes back again and again: each stream is asked to end at once."""
    office.api.closing.set()
    told: list[dict[str, Any]] = []
    while True:
        answer = await office.http.get("/v1/events/stream", params={"after": after, **wanted})
        assert answer.status_code == 200, answer.text
        more = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
        if not more:
            return told
        told += more
        after = more[-1]["id"]
