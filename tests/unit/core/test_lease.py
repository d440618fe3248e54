"""Claims, and which work fits which worker."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import WorkerId
from gnomon.core.executions.lease import LEASE, RENEW_EVERY, ClaimRequest, Lane
from gnomon.errors import InvalidInput
from tests.unit.core.builders import leased

LANE = Lane(DEFAULT_TENANT, queue="default", kind="report", capabilities=frozenset({"gpu"}))


def request(**words: Any) -> ClaimRequest:
    given: dict[str, Any] = {
        "kinds": frozenset({"report"}),
        "capabilities": frozenset({"gpu", "disk"}),
    } | words
    return ClaimRequest(UUID(int=1), WorkerId("ada"), **given)


def test_work_fits_a_worker_that_has_its_kind_queue_and_all_capabilities() -> None:
    assert LANE.fits(request())
    assert not LANE.fits(request(kinds=frozenset({"mail"})))
    assert not LANE.fits(request(queues=frozenset({"slow"})))
    assert not LANE.fits(request(capabilities=frozenset({"disk"})))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("limit", 0),
        ("limit", 10_001),
        ("limit", True),
        ("kinds", frozenset({""})),
        ("queues", frozenset({"\0"})),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=field):
        request(**{field: value})


def test_two_renewals_may_be_lost_before_the_lease_is() -> None:
    assert 2 * RENEW_EVERY < LEASE


def test_people_count_attempts_from_one() -> None:
    assert leased(attempts=0).attempt == 1
    assert leased(attempts=2).attempt == 3
