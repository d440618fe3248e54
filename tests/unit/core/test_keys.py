"""API keys: their text, their proof, their scopes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from gnomon.core.access.keys import ApiKey, KeyId, Scope, hash_of, key_text, parse_key, parse_scopes
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.errors import InvalidInput

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ID = KeyId(UUID(int=7))
SECRET = bytes(range(32))
KEY = ApiKey(ID, DEFAULT_TENANT, "ci", hash_of(SECRET.hex()), frozenset({Scope.READ}), NOW)


def test_a_key_opens_its_own_lock_and_no_other() -> None:
    shown = parse_key(key_text(ID, SECRET))

    assert shown is not None
    assert shown.opens(KEY)
    assert not shown.opens(replace(KEY, secret_hash=hash_of("00" * 32)))


@pytest.mark.parametrize("text", ["", "gnm_", "gnm_x_y", "ghp_" + "0" * 40, "gnm_" + "0" * 200])
def test_what_is_no_key_is_seen_at_once(text: str) -> None:
    assert parse_key(text) is None


def test_a_typing_mistake_is_seen_at_once() -> None:
    text = key_text(ID, SECRET)
    assert parse_key(text[:-1] + ("0" if text[-1] != "0" else "1")) is None
    assert parse_key(text + "\n") is None


def test_the_hash_does_not_hold_the_secret() -> None:
    assert SECRET.hex() not in KEY.secret_hash


@pytest.mark.parametrize(
    ("own", "allowed"),
    [
        (Scope.ADMIN, set(Scope)),
        (Scope.WRITE, {Scope.WRITE, Scope.READ}),
        (Scope.READ, {Scope.READ}),
        (Scope.WORKER, {Scope.WORKER}),
    ],
)
def test_a_scope_allows_what_it_includes(own: Scope, allowed: set[Scope]) -> None:
    key = replace(KEY, scopes=frozenset({own}))
    assert {scope for scope in Scope if key.allows(scope)} == allowed


def test_a_key_is_valid_until_it_expires_or_is_revoked() -> None:
    short = replace(KEY, expires_at=NOW + timedelta(hours=1))
    assert short.is_valid(NOW)
    assert not short.is_valid(NOW + timedelta(hours=1))
    assert not replace(KEY, revoked_at=NOW).is_valid(NOW)


def test_bad_keys_cannot_be_made() -> None:
    with pytest.raises(InvalidInput, match="scopes"):
        replace(KEY, scopes=frozenset())
    with pytest.raises(InvalidInput, match="expires_at"):
        replace(KEY, expires_at=NOW)
    with pytest.raises(InvalidInput, match="'root' is not one of"):
        parse_scopes(["root"])
