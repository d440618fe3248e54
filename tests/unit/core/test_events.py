"""What Gnomon tells the outside."""

from __future__ import annotations

import re
from uuid import UUID

from gnomon.core.values.events import Event, EventType
from tests.unit.core.builders import NOON


def test_event_types_are_a_noun_and_what_happened_to_it() -> None:
    for kind in EventType:
        assert re.fullmatch(r"[a-z]+\.[a-z_]*(ed|ven|lost|out)", kind), kind
        assert kind.name == kind.value.replace(".", "_").upper()


def test_an_event_has_the_fields_of_cloudevents() -> None:
    event = Event(UUID(int=1), "tenants/acme", EventType.JOB_PAUSED, NOON, "jobs/1")

    assert (event.specversion, event.datacontenttype) == ("1.0", "application/json")
    assert event.data.value == {}
