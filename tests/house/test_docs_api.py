"""The page about the API says of each call what it takes: scope, parameters, fields of the body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from gnomon.api.application import ROUTES
from gnomon.api.described.document import describe, operations
from tests.house.pages import read, section
from tests.house.tree import ROOT, must_be_empty

API = "docs/reference/api.md"
CODE = re.compile(r"`([^`]+)`")
LAST = re.compile(
    r"^(?:Scope: (?P<scope>.+?)\.|Needs no key\.)(?P<rest>.*?)(?=\n\n|\Z)", re.DOTALL | re.MULTILINE
)

# Sections that name the fields elsewhere: the form of a job, a definition of a workflow.
ELSEWHERE = "see ["


def test_docs_say_what_each_call_takes() -> None:
    must_be_empty(list(wrong_calls(read(ROOT, API), document())))


def test_docs_of_a_call_that_takes_something_else_are_found() -> None:
    told = """\
## `GET /v1/keys`
Newest first.

Scope: `read`. Parameters: `limit`, `old`.

## `DELETE /v1/keys/{key_id}`
For good.
"""
    paths = document()["paths"]
    few = {"/v1/keys": {"get": paths["/v1/keys"]["get"]}, "/v1/keys/{key_id}": paths["/v1/keys/{key_id}"]}
    assert list(wrong_calls(told, {**document(), "paths": few})) == [
        f"{API}: GET /v1/keys needs admin, and the page says read.",
        f"{API}: GET /v1/keys takes cursor, and the page does not say so.",
        f"{API}: GET /v1/keys takes no old.",
        f"{API}: DELETE /v1/keys/{{key_id}} has no line that begins with `Scope:` or `Needs no key.`",
    ]


@cache
def document() -> Mapping[str, Any]:
    return describe(ROUTES, "1.0")


def wrong_calls(text: str, described: Mapping[str, Any]) -> Iterator[str]:
    for path, method, operation in operations(described):
        call = f"{method.upper()} {path}"
        last = LAST.search(section(text, f"`{call}`"))
        if last is None:
            yield f"{API}: {call} has no line that begins with `Scope:` or `Needs no key.`"
            continue
        scope = " or ".join(CODE.findall(last["scope"] or "")) or None
        if scope != operation.get("x-gnomon-scope"):
            yield f"{API}: {call} needs {operation.get('x-gnomon-scope')}, and the page says {scope}."
        if ELSEWHERE in last["rest"]:
            continue
        rest = re.sub(r"\([^)]*\)", "", last["rest"])
        told = {name for part in CODE.findall(rest) for name in part.split()}
        takes = {one["name"] for one in operation["parameters"] if one["in"] == "query"} | fields(
            operation, described
        )
        for name in sorted(takes - told):
            yield f"{API}: {call} takes {name}, and the page does not say so."
        for name in sorted(told - takes - {"Last-Event-ID"}):
            yield f"{API}: {call} takes no {name}."


def fields(operation: Mapping[str, Any], described: Mapping[str, Any]) -> set[str]:
    """Of its body, which may be left out: then the schema is one of several."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    named = re.findall(r"#/components/schemas/(\w+)", str(body.get("schema")))
    return {name for one in named for name in described["components"]["schemas"][one]["properties"]}
