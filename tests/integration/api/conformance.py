"""Every answer that a test of the API gets is compared with what /openapi.json says of its call.

A code that a call does not name, a header that it does not have, and a body that does not fit are found by
whichever test meets them first.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import httpx
import jsonschema_rs

from gnomon.api.application import ROUTES
from gnomon.api.described.document import describe, operations
from gnomon.api.described.headers import ANSWER

Document = dict[str, Any]
# What the path or the method brings before any call is known, and what no client ever gets.
OF_NO_CALL = {"NOT_FOUND", "METHOD_NOT_ALLOWED", "UPGRADE_REQUIRED", "CLIENT_GONE"}


@cache
def document() -> Document:
    return describe(ROUTES, "test")


async def conforms(response: httpx.Response) -> None:
    """A hook of httpx."""
    call = _called(response.request.method, response.request.url.path)
    if call is None or response.headers.get("content-type", "").startswith("text/event-stream"):
        return
    await response.aread()
    name, operation = call
    place = f"{name} answered {response.status_code} {response.text[:300]}"
    told = operation["responses"].get(str(response.status_code))
    told = _at(told) if told is not None else None
    if response.status_code >= 400 and response.text and response.json()["error"]["code"] in OF_NO_CALL:
        return
    assert told is not None, f"{place}, which its row in src/gnomon/api/described does not name."
    for header in ANSWER:
        is_there = header.lower() in response.headers
        assert not is_there or header in told["headers"], f"{place} with {header}, which is not described."
    if response.headers.get("content-type") == "application/json" and response.request.method != "HEAD":
        error = next(_validator(name, response.status_code).iter_errors(response.json()), None)
        assert error is None, f"{place}, which does not fit its description: {error}"


@cache
def _patterns() -> list[tuple[re.Pattern[str], str, str, Document]]:
    found = sorted(operations(document()), key=lambda one: one[0].count("{"))
    return [(_pattern(path), method, one["operationId"], one) for path, method, one in found]


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(
        "/".join("[^/]+" if part.startswith("{") else re.escape(part) for part in path.split("/"))
    )


def _called(method: str, path: str) -> tuple[str, Document] | None:
    method = "get" if method == "HEAD" else method.lower()
    for pattern, own_method, name, operation in _patterns():
        if own_method == method and pattern.fullmatch(path):
            return name, operation
    return None


@cache
def _validator(name: str, status: int) -> Any:
    [told] = [one for _, _, one in operations(document()) if one["operationId"] == name]
    response = _at(told["responses"][str(status)])
    schema = response["content"]["application/json"]["schema"]
    whole = {**schema, "components": document()["components"]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def _at(response: Document) -> Document:
    if "$ref" not in response:
        return response
    found: Document = document()["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return found
