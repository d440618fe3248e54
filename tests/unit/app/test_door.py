"""Which connections must go: after how long, and which ones first when there are too many."""

from __future__ import annotations

import asyncio

import pytest

from gnomon.api.serving.presence import Peer, Presence, origin_of
from gnomon.app.door.doorman import Doorman
from gnomon.app.door.watch import SOCKET_BYTES_MAX, Limits, Sighting, Traffic, Watch, Why
from gnomon.errors import TooManyConnections

LIMITS = Limits(first_byte=10, head=30, idle=60, per_address=None, total=1000)
ADA: Peer = ("192.0.2.1", "1000")


def seen(*, received: int = 0, acknowledged: int = 0, peer: Peer = ADA) -> dict[int, Sighting]:
    return {1: Sighting(peer, Traffic(received, acknowledged))}


def look(
    watch: Watch, now: float, sight: dict[int, Sighting], *, busy: bool = False, served: bool = False
) -> object:
    peers = {one.peer for one in sight.values()}
    gone = watch.look(sight, busy=peers if busy else set(), served=peers if served else set(), now=now)
    return gone.get(1)


def test_a_connection_that_says_nothing_goes_after_ten_seconds() -> None:
    watch = Watch(LIMITS)
    assert look(watch, 0, seen()) is None
    assert look(watch, 9, seen()) is None
    assert look(watch, 10, seen()) is Why.SILENT


def test_a_head_has_thirty_seconds_from_its_first_byte_however_many_drops_it_comes_in() -> None:
    watch = Watch(LIMITS)
    assert look(watch, 0, seen()) is None
    for now in range(9, 39):
        assert look(watch, now, seen(received=now)) is None
    assert look(watch, 39, seen(received=39)) is Why.SLOW_HEAD


def test_a_connection_waits_a_minute_for_its_next_request_and_then_its_head_is_timed() -> None:
    watch = Watch(LIMITS)
    look(watch, 0, seen(received=100), busy=True)
    assert look(watch, 1, seen(received=100, acknowledged=50), served=True) is None
    assert look(watch, 60, seen(received=100, acknowledged=50)) is None
    assert look(watch, 61, seen(received=100, acknowledged=50)) is Why.IDLE

    watch = Watch(LIMITS)
    look(watch, 0, seen(received=100), served=True)
    assert look(watch, 50, seen(received=101)) is None
    assert look(watch, 79, seen(received=102)) is None
    assert look(watch, 80, seen(received=103)) is Why.SLOW_HEAD


def test_an_answer_that_is_still_being_read_is_no_idleness() -> None:
    watch = Watch(LIMITS)
    look(watch, 0, seen(received=100), served=True)
    for now in range(10, 300, 10):
        assert look(watch, now, seen(received=100, acknowledged=now)) is None


def test_a_request_under_way_is_never_touched() -> None:
    watch = Watch(LIMITS)
    for now in range(0, 1000, 10):
        assert look(watch, now, seen(received=100), busy=True) is None


def test_an_answer_of_which_nothing_is_read_for_a_minute_is_given_up() -> None:
    def look_at_answer(now: float, *, acknowledged: int, unread: int) -> object:
        sight = {1: Sighting(ADA, Traffic(100, acknowledged, unread))}
        return look(watch, now, sight, busy=True)

    watch = Watch(LIMITS)
    for now in range(0, 1000, 10):
        assert look_at_answer(now, acknowledged=now, unread=50_000) is None  # A slow reader.
    for now in range(1000, 2000, 10):
        assert look_at_answer(now, acknowledged=1000, unread=0) is None  # All of it is read: a quiet stream.
    assert look_at_answer(2000, acknowledged=1000, unread=50_000) is None
    assert look_at_answer(2059, acknowledged=1000, unread=50_000) is None
    assert look_at_answer(2060, acknowledged=1000, unread=60_000) is Why.UNREAD


def test_a_websocket_may_send_pings_for_ever_and_no_long_messages() -> None:
    watch, sockets = Watch(LIMITS), {ADA}

    def look_at_socket(now: float, *, received: int) -> object:
        return watch.look(seen(received=received), busy={ADA}, served=(), sockets=sockets, now=now).get(1)

    look(watch, 0, seen(received=100_000), busy=True)  # A request before it: its body counts for nothing.
    for now in range(1, 100_000, 1000):
        assert look_at_socket(now, received=100_000 + 100 * now) is None
    assert look_at_socket(100_001, received=100_000 + 128 * 100_001 + SOCKET_BYTES_MAX) is Why.TALKATIVE

    watch = Watch(LIMITS)
    assert look_at_socket(0, received=1_000_000) is Why.TALKATIVE
    assert look(watch, 1, seen(received=2_000_000), busy=True) is None


def test_a_number_that_the_kernel_gives_again_is_another_connection() -> None:
    watch = Watch(LIMITS)
    look(watch, 0, seen())
    assert look(watch, 10, seen(peer=("192.0.2.1", "2000"))) is None


def test_of_an_address_with_too_many_those_go_that_have_been_quiet_for_longest() -> None:
    watch = Watch(Limits(first_byte=100, head=30, idle=60, per_address=2, total=1000))
    early = {n: Sighting(("192.0.2.1", str(n)), Traffic(0, 0)) for n in (1, 2)}
    others = {n: Sighting(("192.0.2.2", str(n)), Traffic(0, 0)) for n in (5, 6)}
    late = {n: Sighting(("192.0.2.1", str(n)), Traffic(0, 0)) for n in (3, 4)}
    watch.look(early | others, busy=(), served=(), now=0)
    gone = watch.look(early | others | late, busy={("192.0.2.1", "1")}, served=(), now=1)
    assert gone.keys() == {
        2,
        3,
    }  # The first has a request under way; of those that came later, one must go.
    assert set(gone.values()) == {Why.ADDRESS_FULL}


def test_of_too_many_in_all_the_quiet_make_room() -> None:
    watch = Watch(Limits(first_byte=100, head=30, idle=60, per_address=None, total=2))
    crowd = {n: Sighting((f"192.0.2.{n}", "1"), Traffic(0, 0)) for n in (1, 2, 3)}
    assert watch.look(crowd, busy={("192.0.2.1", "1")}, served=(), now=0) == {2: Why.FULL}


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_of_ipv6_a_network_counts_as_one_address(host: str, origin: str) -> None:
    assert origin_of(host) == origin


def test_requests_under_way_are_counted_by_address_and_in_all() -> None:
    presence = Presence(per_address=1, total=2)
    presence.enter(ADA)
    presence.check(ADA)
    presence.enter(ADA)
    with pytest.raises(TooManyConnections, match=r"192\.0\.2\.1 holds 1 connections"):
        presence.check(ADA)
    presence.leave(ADA)
    for host in ("192.0.2.2", "192.0.2.3"):
        presence.enter((host, "1"))
    with pytest.raises(TooManyConnections, match="All clients together hold 2 connections"):
        presence.check(("192.0.2.3", "1"))
    assert presence.take_served() == {ADA}
    assert presence.take_served() == set()


async def test_the_door_is_watched_on_after_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    doorman, looks = Doorman(Presence(), LIMITS, port=1, speaks_plainly=True), asyncio.Queue[None]()

    async def step() -> float:
        looks.put_nowait(None)
        raise ZeroDivisionError

    monkeypatch.setattr(doorman, "step", step)
    monkeypatch.setattr("gnomon.app.door.doorman.PAUSE_SECONDS", 0)
    watching = asyncio.create_task(doorman.run())
    async with asyncio.timeout(10):
        await looks.get()
        await looks.get()
    watching.cancel()
