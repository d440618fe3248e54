"""API keys over HTTP: make, list, revoke. The text of a key is in one answer only."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from litestar import delete, get, post
from litestar.params import FromPath, FromQuery, JSONBody

from gnomon.api.forms.ids import Cursors
from gnomon.api.forms.ids import key_id as read_key_id
from gnomon.api.forms.reading import Body
from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import KEEPS_KEYS
from gnomon.core.access.keys import ApiKey, KeySource
from gnomon.core.values.forms import Answer, Form
from gnomon.core.values.instants import parse_instant
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT


class NewKeyForm(Form):
    name: str
    scopes: list[str]
    expires_at: str | None = None


class KeyAnswer(Answer):
    key_id: str
    name: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    created_through: KeySource | None
    is_valid: bool


class NewKeyAnswer(KeyAnswer):
    """`key` is shown now and never again."""

    key: str


class KeyPage(Answer):
    keys: list[KeyAnswer]
    next_cursor: str | None


@post("/v1/keys", policy=KEEPS_KEYS, dto=Body[NewKeyForm], return_dto=None)
async def create_key(data: JSONBody[NewKeyForm], request: Call) -> NewKeyAnswer:
    """Make a key. Its text is in this answer, and never shown again."""
    until = None if data.expires_at is None else parse_instant(data.expires_at, field="expires_at")
    new = await request.verbs.keys.create(data.name, data.scopes, expires_at=until)
    return NewKeyAnswer(**_fields(new.key, request.now), key=new.text)


@get("/v1/keys", policy=KEEPS_KEYS)
async def list_keys(
    request: Call, limit: FromQuery[int] = PAGE_LIMIT_DEFAULT, cursor: FromQuery[str | None] = None
) -> KeyPage:
    """Newest first, revoked and expired ones too."""
    cursors = Cursors(request.verbs.tenant_id, "keys")
    page = await request.verbs.keys.list(limit=limit, after=cursors.read_id(cursor))
    now = request.now
    shown = [KeyAnswer(**_fields(key, now)) for key in page.items]
    return KeyPage(keys=shown, next_cursor=cursors.write_id(page.next))


@delete("/v1/keys/{key_id:str}", policy=KEEPS_KEYS, status_code=200)
async def revoke_key(key_id: FromPath[str], request: Call) -> KeyAnswer:
    """For good. This node refuses it at once, all others within ten seconds.

    The last valid admin key of a tenant cannot be revoked.
    """
    key = await request.verbs.keys.revoke(read_key_id(key_id))
    request.callers.forget(key.id)
    request.streams.end(key.id)
    return KeyAnswer(**_fields(key, request.now))


def _fields(key: ApiKey, now: datetime) -> dict[str, Any]:
    return {
        "key_id": str(key.id),
        "name": key.name,
        "scopes": sorted(key.scopes),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
        "created_through": key.created_through,
        "is_valid": key.is_valid(now),
    }


ROUTES: list[Any] = [create_key, list_keys, revoke_key]
