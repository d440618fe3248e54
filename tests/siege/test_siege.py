"""A short siege, with short deadlines. `make siege` has the usual ones, and a limit for the time of calls."""

from __future__ import annotations

from pathlib import Path

from tests.siege.besieging import Siege
from tests.siege.node import besieged_node, room_for

PART = 0.02
CROWD = 2000
PATIENCE_SECONDS = 20.0  # Other tests run beside it.


def test_a_besieged_node_answers_and_gets_rid_of_its_besiegers(tmp_path: Path) -> None:
    with besieged_node(tmp_path, part=PART) as (one, key, chosen):
        siege = Siege(
            one.port,
            one.process.pid,
            key,
            chosen,
            seed=1,
            crowd=room_for(CROWD),
            grace_seconds=PATIENCE_SECONDS,
            patience_seconds=PATIENCE_SECONDS,
            hold_streams_seconds=0,
        )
        siege.run(until=lambda: True, told=lambda _: None)
    assert not siege.complaints()
    answers = {outcome.attack: outcome.answers for outcome in siege.outcomes}
    assert answers["slow body"].get(408), "a body that is too slow is answered"
    assert answers["streams"][429] > answers["streams"][200], "a key holds so many streams, and no more"
