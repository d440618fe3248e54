from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta
from importlib import resources
from itertools import pairwise

import pytest

from gnomon.core.time import zones
from gnomon.errors import InvalidTimezone


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            " ",
            "Mars/Phobos",
            "../../etc/passwd",
            "/etc/localtime",
            "EST5EDT4,M3",
            "EST5EDT4,M3.2.0,M11.1.0",
        ),
        *(
            "America",
            "America/",
            "america/new_york",
            "Europe/Berlin\x00",
            "Europe/Berlin\n",
            "Europe\\Berlin",
        ),
        *(
            "Europe/../Europe/Berlin",
            "localtime",
            "posixrules",
            "zone.tab",
            "__init__.py",
            "x" * 10_000,
            "+02:00",
        ),
    ],
)
def test_only_iana_names_are_zones(name: str) -> None:
    with pytest.raises(InvalidTimezone) as refusal:
        zones.zone(name)

    assert refusal.value.code == "INVALID_TIMEZONE"


def test_every_name_of_the_package_loads() -> None:
    assert len(zones.names()) > 590
    assert {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"} <= zones.names()
    for name in zones.names():
        assert zones.zone(name).key == name


def test_zones_come_from_the_package_even_when_the_system_has_others(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    lies = tmp_path_factory.mktemp("zoneinfo")
    (lies / "Europe").mkdir()
    source = resources.files("tzdata").joinpath("zoneinfo", "Asia", "Tokyo").read_bytes()
    (lies / "Europe" / "Vienna").write_bytes(source)
    known = zoneinfo.TZPATH
    zoneinfo.reset_tzpath([lies])
    try:
        zones.zone.cache_clear()
        vienna = zones.zone("Europe/Vienna")
    finally:
        zoneinfo.reset_tzpath(known)

    assert datetime(2026, 1, 1, tzinfo=vienna).utcoffset() == timedelta(hours=1)


def test_no_zone_shifts_twice_within_one_stride_of_the_search() -> None:
    start, end = datetime(1840, 1, 1, tzinfo=UTC), datetime(2090, 1, 1, tzinfo=UTC)
    for name in ("America/Noronha", "Asia/Gaza", "Africa/Casablanca", "Africa/Tripoli", "Europe/Lisbon"):
        shifts = list(zones.shifts_between(zones.zone(name), start, end))
        assert all(later.at - earlier.at > 2 * zones.STRIDE for earlier, later in pairwise(shifts))


def test_a_shift_knows_its_instant_and_the_civil_times_it_touches() -> None:
    new_york = zones.zone("America/New_York")
    gap, fold = zones.shifts_between(
        new_york, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 12, 31, tzinfo=UTC)
    )

    assert (gap.is_gap, gap.at) == (True, datetime(2026, 3, 8, 7, tzinfo=UTC))
    assert (str(gap.starts), str(gap.ends)) == ("2026-03-08 02:00:00", "2026-03-08 03:00:00")
    assert (fold.is_gap, fold.at) == (False, datetime(2026, 11, 1, 6, tzinfo=UTC))
    assert (str(fold.starts), str(fold.ends)) == ("2026-11-01 01:00:00", "2026-11-01 02:00:00")
    assert zones.shift_around(new_york, gap.starts) == gap
    assert zones.shift_around(new_york, gap.ends) is None
    assert zones.shift_around(new_york, fold.starts) == fold
    assert zones.shift_around(new_york, fold.ends) is None


def test_the_end_of_a_span_belongs_to_it_and_its_start_does_not() -> None:
    new_york, at = zones.zone("America/New_York"), datetime(2026, 3, 8, 7, tzinfo=UTC)
    second = timedelta(seconds=1)

    assert [shift.at for shift in zones.shifts_between(new_york, at - second, at)] == [at]
    assert list(zones.shifts_between(new_york, at, at + second)) == []
    assert list(zones.shifts_between(new_york, at - second, at - second / 2)) == []
    for before, after in ((0.3, 0.3), (1.2, 0.4), (0.9, 2.7), (90_000.5, 100_000.2)):
        found = zones.shifts_between(new_york, at - before * second, at + after * second)
        assert [shift.at for shift in found] == [at]
