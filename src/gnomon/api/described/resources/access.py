"""API keys and the tenant of the caller."""

from __future__ import annotations

from gnomon.api.described.call import CallDescription, Calls
from gnomon.api.described.field import (
    Field,
    Fields,
    flag,
    instant,
    many,
    name,
    parts,
    text,
    uuid,
    whole,
    word,
)
from gnomon.api.described.resources import recurring as often
from gnomon.api.resources.keys import KeyAnswer, KeyPage, NewKeyAnswer, NewKeyForm
from gnomon.api.resources.tenants import TenantAnswer, TenantForm
from gnomon.core.access.keys import PREFIX, SECRET_BYTES, KeySource, Scope
from gnomon.core.values.limits import MAX_CONCURRENT_MAX, PAGE_LIMIT_MAX
from gnomon.errors import LastAdminKey

_HEX = 2 * SECRET_BYTES + 8
_KEY = f"{PREFIX}_{often.KEY.replace('-', '')}_{'0123456789abcdef' * (_HEX // 16)}{'0' * (_HEX % 16)}"
_NAME = name("What it is for. Need not be unique.", "deploy of the shop")
_SCOPE = word("What the key allows.", "write", Scope)
_MOST = whole(
    "How many executions of the tenant may run at once. Null: no limit.", 500, 1, MAX_CONCURRENT_MAX
)
_SCOPES: Field = many(
    "What it allows: `admin` everything, `write` also `read`, `worker` the protocol of workers only.",
    _SCOPE,
    up_to=None,
    low=1,
)

FIELDS: Fields = {
    NewKeyForm: {
        "name": _NAME,
        "scopes": _SCOPES,
        "expires_at": instant("When it ends, with an offset. Null: never.", "2100-01-01T00:00:00Z"),
    },
    KeyAnswer: {
        "key_id": uuid("The id of the key, which is not secret.", often.KEY),
        "name": _NAME,
        "scopes": _SCOPES,
        "created_at": often.CREATED_AT,
        "expires_at": instant("When it ends. Null: never.", "2100-01-01T00:00:00Z"),
        "revoked_at": instant("When it was revoked. Null: it was not.", often.ENDED),
        "last_used_at": instant("When it was last used, to about a minute. Null: never.", often.STARTED),
        "created_through": word(
            "How it was made: `database` is `gnomon key create --database`. Null: by an earlier release.",
            "api",
            KeySource,
        ),
        "is_valid": flag("It is neither revoked nor expired.", True),
    },
    NewKeyAnswer: {
        "key": text(
            "The key itself. It is shown now and never again.",
            _KEY,
            pattern=rf"^{PREFIX}_[0-9a-f]{{32}}_[0-9a-f]{{{_HEX}}}$",
        )
    },
    KeyPage: {"keys": parts("A page of keys.", up_to=PAGE_LIMIT_MAX), "next_cursor": often.NEXT_CURSOR},
    TenantForm: {"max_concurrent": _MOST},
    TenantAnswer: {
        "tenant_id": often.TENANT_ID.but("The id of the tenant."),
        "name": name("The name of the tenant.", "default"),
        "max_concurrent": _MOST,
    },
}
CALLS: Calls = {
    "create_key": CallDescription(
        "Make a key",
        bodies={
            "For a service that makes and runs jobs": {"name": "shop", "scopes": ["write"]},
            "For workers, until the end of the century": {
                "name": "workers",
                "scopes": ["worker"],
                "expires_at": "2100-01-01T00:00:00Z",
            },
        },
    ),
    "list_keys": CallDescription("List keys"),
    "revoke_key": CallDescription("Revoke a key", refusals=(LastAdminKey,)),
    "get_tenant": CallDescription("Get the tenant"),
    "change_tenant": CallDescription(
        "Change the tenant",
        bodies={"At most 500 at once": {"max_concurrent": 500}, "No limit": {"max_concurrent": None}},
    ),
}
