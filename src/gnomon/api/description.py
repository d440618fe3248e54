"""The API described by itself: OpenAPI 3.1, and a page for people that needs nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from litestar import Response, get

from gnomon.api.call import Call
from gnomon.api.described.document import operations
from gnomon.api.policy import PUBLIC

# No script, nothing from elsewhere, and nobody may put the page into a frame.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}


def page(document: dict[str, Any]) -> str:
    """All of it as one page of HTML."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Gnomon API</title>",
        "<link rel='stylesheet' href='/docs/style.css'></head><body><main>",
        f"<h1>Gnomon API {escape(document['info']['version'])}</h1>",
        "<p>The same as a document for programs: <a href='/openapi.json'>openapi.json</a>.</p>",
    ]
    for path, method, operation in operations(document):
        scope = operation.get("x-gnomon-scope", "no key")
        parts.append(f"<section><h2><code>{method.upper()} {escape(path)}</code> <small>{scope}</small></h2>")
        parts.append(f"<p>{escape(operation.get('description') or operation.get('summary', ''))}</p>")
        parts += _parameters(operation)
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if body:
            parts.append(f"<p>Body: {_link(body)}</p>")
        for code, answer in operation["responses"].items():
            schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
            parts.append(f"<p>{escape(code)}: {_link(schema)}</p>")
        parts.append("</section>")
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts += _schema(name, schema)
    return "".join([*parts, "</main></body></html>"])


def _parameters(operation: dict[str, Any]) -> Iterator[str]:
    parameters = operation.get("parameters", [])
    if parameters:
        rows = "".join(
            f"<tr><td><code>{escape(one['name'])}</code></td><td>{escape(one['in'])}</td>"
            f"<td>{_link(one.get('schema', {}))}</td></tr>"
            for one in parameters
        )
        yield f"<table><tr><th>parameter</th><th>in</th><th>type</th></tr>{rows}</table>"


def _schema(name: str, schema: dict[str, Any]) -> Iterator[str]:
    required = set(schema.get("required", ()))
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code>{'' if field in required else ' <small>optional</small>'}</td>"
        f"<td>{_link(one)}</td></tr>"
        for field, one in schema.get("properties", {}).items()
    )
    yield f"<section id='{escape(name)}'><h2>{escape(name)}</h2>"
    yield f"<p>{escape(schema.get('description', ''))}</p><table>{rows}</table></section>"


def _link(schema: dict[str, Any]) -> str:
    """The type in words, with links to what has a name."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"<a href='#{escape(name)}'>{escape(name)}</a>"
    for word in ("oneOf", "anyOf"):
        if word in schema:
            return " or ".join(_link(one) for one in schema[word])
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_link(schema.get('items', {}))}"
    return escape(kind if isinstance(kind, str) else " or ".join(kind))


@cache
def _style() -> bytes:
    return (files("gnomon.api") / "docs.css").read_bytes()


@get("/openapi.json", policy=PUBLIC)
async def openapi(request: Call) -> Response[dict[str, Any]]:
    """This API as OpenAPI 3.1."""
    return Response(request.description())


@get("/docs", policy=PUBLIC, media_type="text/html")
async def docs(request: Call) -> Response[str]:
    """This API for people."""
    return Response(page(request.description()), media_type="text/html", headers=_HEADERS)


@get("/docs/style.css", policy=PUBLIC, media_type="text/css")
async def style() -> Response[bytes]:
    return Response(_style(), media_type="text/css", headers=_HEADERS)


ROUTES: list[Any] = [openapi, docs, style]
