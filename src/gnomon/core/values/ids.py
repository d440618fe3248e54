"""UUIDv7 ids: sortable by time, made from a passed-in time and a passed-in source of chance."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import blake2b, sha1
from random import Random
from struct import pack
from uuid import UUID

from gnomon.core.values.instants import MICROSECOND

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)

_VERSION_7 = 0x7 << 76
_VARIANT = 0x2 << 62
_TAIL_BITS = 74  # What a UUIDv7 leaves free: 12 bits beside the version, 62 beside the variant.
_STEP_BITS = 32
# Of a derived id: a part of when its origin was, a part of its origin, its place, and the rest.
_AGE_BITS, _KIN_BITS, _PLACE_BITS = 12, 4, 15
_CHANCE_BITS = _TAIL_BITS - _AGE_BITS - _KIN_BITS - _PLACE_BITS
PLACE_MAX = (1 << _PLACE_BITS) - 1


def uuid7(unix_ms: int, tail: int) -> UUID:
    """The UUIDv7 of a millisecond and 74 free bits. Equal milliseconds sort by `tail`."""
    assert 0 <= tail < 1 << _TAIL_BITS
    return UUID(int=unix_ms << 80 | _VERSION_7 | (tail >> 62) << 64 | _VARIANT | tail & ((1 << 62) - 1))


def first_id_of(instant: datetime) -> UUID:
    """The smallest UUIDv7 of an instant: where a partition or a time filter begins."""
    return UUID(int=max(0, (instant - EPOCH) // MILLISECOND) << 80)


def ids_made(since: datetime | None, until: datetime | None) -> tuple[UUID, UUID]:
    """The first id made from `since` on, and the first one that is not made before `until`.

    A part of a millisecond counts as a whole.
    """
    end = UUID(int=2**128 - 1) if until is None else first_id_of(until + MILLISECOND - MICROSECOND)
    return UUID(int=0) if since is None else first_id_of(since), end


def derived_id(now: datetime, origin: UUID, *parts: int, place: int) -> UUID:
    """The id of what follows from something: the same facts give the same id at the same moment, and it is
    always younger. At another moment all of it is another one: two that are equal by chance do not stay so.

    Of one millisecond, those that follow from one thing lie together and sort by `place`, and what follows
    from the oldest thing comes first, mostly: only the last four seconds of its age are in the id.
    """
    assert 0 <= place <= PLACE_MAX
    origin_ms = origin.int >> 80
    unix_ms = max((now - EPOCH) // MILLISECOND, origin_ms + 1)
    facts = origin.bytes + pack(f">{len(parts) + 1}q", unix_ms, *parts)
    chance = int.from_bytes(blake2b(facts, digest_size=8).digest(), "big") >> (64 - _CHANCE_BITS)
    kin = (origin_ms % (1 << _AGE_BITS)) << _KIN_BITS | origin.int % (1 << _KIN_BITS)
    return uuid7(unix_ms, (kin << _PLACE_BITS | place) << _CHANCE_BITS | chance)


def named_id(origin: UUID, name: str) -> UUID:
    """The UUIDv5 of a name within something: the same name has the same id there for ever."""
    return UUID(bytes=sha1(origin.bytes + name.encode(), usedforsecurity=False).digest()[:16], version=5)


class IdSource:
    """Ids that only grow, so a batch keeps the order in which its caller wrote it.

    Within a millisecond, and when time steps back, the tail counts on by a random step.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._unix_ms = -1
        self._tail = 0

    def next(self, now: datetime) -> UUID:
        unix_ms = (now - EPOCH) // MILLISECOND
        if unix_ms > self._unix_ms:
            # The top bit stays free, so that counting on cannot overflow within a millisecond.
            self._unix_ms, self._tail = unix_ms, self._random.getrandbits(_TAIL_BITS - 1)
        else:
            self._tail += 1 + self._random.getrandbits(_STEP_BITS)
        return uuid7(self._unix_ms, self._tail)
