"""What is known of API keys: when they were used, how they were made, and which must stay."""

from __future__ import annotations

from datetime import timedelta

from gnomon.client.access.key_uses import EVERY, KeyUseWriter
from gnomon.core.access.keys import KeySource
from gnomon.store.databases.database import Rows
from tests.integration.api.conftest import Office, problem
from tests.integration.api.following import all_after


async def last_uses(office: Office) -> dict[str, str | None]:
    listed = (await office.http.get("/v1/keys")).json()["keys"]
    return {one["name"]: one["last_used_at"] for one in listed}


async def test_the_last_use_of_a_key_is_written_once_a_minute_and_not_by_calls(office: Office) -> None:
    writer = KeyUseWriter(office.api.key_uses, office.store.keys)
    new = await office.client.keys.create("reader", ["read"])
    await office.client.keys.create("idle", ["read"])
    asked: list[str] = []
    fetch = office.store.database.fetch

    async def noting(statement: str, *batches: Rows, **values: object) -> object:
        asked.append(statement)
        return await fetch(statement, *batches, **values)

    office.store.database.fetch = noting  # type: ignore[method-assign,assignment]
    for _ in range(20):
        office.clock.advance(timedelta(seconds=1))
        answer = await office.http.get("/v1/jobs", headers={"Authorization": f"Bearer {new.text}"})
        assert answer.status_code == 200
    assert "keys_used" not in asked
    assert (await last_uses(office))["reader"] is None

    seen = office.clock.now()
    assert await writer.step() == EVERY
    await writer.step()
    assert asked.count("keys_used") == 1
    uses = await last_uses(office)
    assert uses["idle"] is None
    kept = (await office.client.keys.find(new.key.id)).last_used_at
    assert kept is not None
    assert timedelta(0) <= seen - kept < timedelta(minutes=1)


async def test_the_last_admin_key_is_kept_and_the_answer_says_what_to_do(office: Office) -> None:
    listed = (await office.http.get("/v1/keys")).json()["keys"]
    [only] = [one for one in listed if "admin" in one["scopes"]]

    refused = await office.http.delete(f"/v1/keys/{only['key_id']}")
    assert problem(refused) == (409, "LAST_ADMIN_KEY")
    assert "Make another one first" in refused.json()["error"]["message"]

    await office.key("admin")
    assert (await office.http.delete(f"/v1/keys/{only['key_id']}")).status_code == 200


async def test_the_events_of_a_key_say_how_it_was_made_and_hold_no_secret(office: Office) -> None:
    made = (await office.http.post("/v1/keys", json={"name": "ci", "scopes": ["write", "read"]})).json()
    assert made["created_through"] == "api"
    rescue = await office.client.keys.create("rescue", ["admin"], through=KeySource.DATABASE)
    await office.http.delete(f"/v1/keys/{made['key_id']}")

    told = [one for one in await all_after(office, types="key.*") if one["data"]["name"] != "test"]
    about = {"key_id": made["key_id"], "name": "ci", "scopes": ["read", "write"], "created_through": "api"}
    assert [(one["type"], one["data"]) for one in told] == [
        ("key.created", about),
        (
            "key.created",
            {
                "key_id": str(rescue.key.id),
                "name": "rescue",
                "scopes": ["admin"],
                "created_through": "database",
            },
        ),
        ("key.revoked", about),
    ]
    assert told[0]["subject"] == f"keys/{made['key_id']}"
    for secret in (made["key"], rescue.text, rescue.key.secret_hash):
        assert secret.rpartition("_")[2] not in str(told)
