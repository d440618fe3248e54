"""The plan of a campaign."""

from __future__ import annotations

from proof.campaign.plan import BROKEN_MAX, Kind, draw

LEASE = 20.0


def test_the_same_seed_is_the_same_plan() -> None:
    assert draw(7, seconds=600, lease=LEASE) == draw(7, seconds=600, lease=LEASE)
    assert draw(7, seconds=600, lease=LEASE) != draw(8, seconds=600, lease=LEASE)


def test_half_an_hour_has_three_hundred_faults_of_every_kind() -> None:
    for seed in range(5):
        faults = draw(seed, seconds=1640, lease=LEASE)
        assert len(faults) >= 300
        assert {fault.kind for fault in faults} == set(Kind) - {Kind.STARVED}


def test_somebody_of_each_kind_always_works() -> None:
    faults = draw(3, seconds=1600, lease=LEASE)
    for fault in faults:
        beside = [one for one in faults if one is not fault and one.at <= fault.at < one.until]
        assert sum(one.target[0] == fault.target[0] for one in beside) < BROKEN_MAX.get(fault.target[0], 1)


def test_what_cannot_be_broken_here_is_left_out() -> None:
    faults = draw(1, seconds=600, lease=LEASE, without={Kind.DISK_FULL, Kind.POOLER})
    assert not {fault.kind for fault in faults} & {Kind.DISK_FULL, Kind.POOLER}
