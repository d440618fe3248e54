"""Nonsense of every kind to every route: an answer in the envelope, never a 500, never a trace.

The shapes come from the API's own description, so a field that is added is fuzzed from that day on.
"""

from __future__ import annotations

import asyncio
import json
from random import Random
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

import httpx
import pytest

from tests.integration.api.conftest import Office, problem

ROUNDS = 12
ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**300, 0.5, -0.5, 1e308, 1e-300, "", " ", "x", "\0",
    "\ud800", "é" * 300, "a" * 5000, "2030-01-01T00:00:00Z", "0 9 * * *", "* * * * * *", "UTC", "1.1",
    "1-1-1", "read", "0-0-0", "ended", "00000000-0000-7000-8000-000000000000", [], {}, [[]], [None],
    {"x": None}, {"": ""}, ["x"] * 300,
]  # fmt: skip
SCALARS: dict[str, list[Any]] = {
    "integer": [0, 1, 3, 9, -1, 10**6],
    "number": [0, 1, 0.5, 60, -1, 1e9],
    "boolean": [True, False],
}


class Fuzz:
    def __init__(self, document: dict[str, Any], random: Random, known: list[str]) -> None:
        self._schemas = document["components"]["schemas"]
        self._random = random
        self._known = known

    def value(self, schema: dict[str, Any], depth: int = 0) -> Any:
        """Mostly what the schema says, sometimes anything."""
        if depth > 5 or self._random.random() < 0.15:
            return self._random.choice(ODD)
        if "$ref" in schema:
            return self.value(self._schemas[schema["$ref"].rpartition("/")[2]], depth + 1)
        if some := schema.get("oneOf") or schema.get("anyOf"):
            return self.value(self._random.choice(some), depth + 1)
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return [self.value(schema.get("items", {}), depth + 1) for _ in range(self._random.randrange(4))]
        texts = [*self._known, "x", f"name {uuid4()}", "0 9 * * *", "default"]
        return self._random.choice(texts if kind == "string" else SCALARS.get(str(kind), ODD))

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        fields, required = schema.get("properties", {}), set(schema.get("required", ()))
        chosen = [one for one in fields if one in required or self._random.random() < 0.25]
        made = {one: self.value(fields[one], depth + 1) for one in chosen}
        if self._random.random() < 0.05:
            made[self._random.choice(["unknown", "\ud800", "tenant_id"])] = 1
        return made

    def text(self) -> str:
        return str(self._random.choice([*self._known, *(one for one in ODD if isinstance(one, str | int))]))


@pytest.mark.parametrize("seed", range(3))
async def test_no_nonsense_is_a_500(office: Office, seed: int) -> None:
    office.api.closing.set()
    document = (await office.http.get("/openapi.json")).json()
    job = await office.job()
    run = await office.run(job["job_id"])
    await office.register()
    await office.claim()
    random = Random(seed)
    fuzz = Fuzz(document, random, [job["job_id"], run["execution_id"], "ada", "report"])
    for path, item in document["paths"].items():
        for method, operation in item.items():
            for _ in range(ROUNDS):
                answer = await asyncio.wait_for(_call(office.http, fuzz, random, path, method, operation), 20)
                _judge(answer, method, path)


async def _call(
    http: httpx.AsyncClient, fuzz: Fuzz, random: Random, path: str, method: str, operation: dict[str, Any]
) -> httpx.Response:
    query: dict[str, str] = {}
    for parameter in operation.get("parameters", []):
        text = fuzz.text().encode(errors="replace").decode()
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", quote(text[:200] or "x", safe=""))
        elif parameter["in"] == "query" and random.random() < 0.4:
            query[parameter["name"]] = text
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    content = b"" if body is None else json.dumps(fuzz.value(body)).encode()
    if random.random() < 0.05:
        content = content[: len(content) // 2] + b"\xff"
    url = f"http://gnomon.test{path}?{urlencode(query)}"
    key = fuzz.text()[:50].encode(errors="replace")
    headers = {b"Idempotency-Key": key} if random.random() < 0.1 else {}
    return await http.request(method.upper(), url, content=content, headers=headers)


def _judge(answer: httpx.Response, method: str, path: str) -> None:
    assert answer.status_code < 500, (method, path, answer.text)
    if answer.status_code >= 400:
        problem(answer)
