"""The OpenAPI 3.1 document: from the routes, their signatures and docstrings, and the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from http import HTTPStatus
from inspect import cleandoc
from typing import Any, get_args

from litestar.handlers import HTTPRouteHandler

from gnomon.api.described import headers, refusals
from gnomon.api.described.call import CallDescription
from gnomon.api.described.field import Field, word
from gnomon.api.described.schemas import components, example_of, schema_of
from gnomon.api.described.tables import CALLS, FIELDS, PARAMETERS, READ_LATER, SECTIONS, SHAPES
from gnomon.api.serving.failures import Envelope
from gnomon.api.serving.policy import Policy

KEY = "api_key"
OURS = frozenset({"request", "socket", "data", "return"})
_ABOUT = (
    "A self-hosted distributed job scheduler. Bodies are JSON in UTF-8; a field that a call does not know is "
    "refused. Every refusal comes in one envelope, with a code that does not change. HEAD works "
    "where GET does."
)


def describe(routes: Sequence[Any], version: str) -> dict[str, Any]:
    """The OpenAPI document of these routes."""
    served = [route for route in routes if isinstance(route, HTTPRouteHandler)]
    structs = [one for route in served for one in (_reads(route), _answers(route)) if one is not None]
    known = components([*structs, *READ_LATER, Envelope], FIELDS, SHAPES)
    paths: dict[str, dict[str, Any]] = {}
    for route in served:
        for path in sorted(route.paths):
            plain = path.replace(":str}", "}")
            for method in sorted(route.http_methods):
                paths.setdefault(plain, {})[method.lower()] = _operation(route, plain, known)
    shared = _shared(paths)
    used = {operation["tags"][0] for item in paths.values() for operation in item.values()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Gnomon", "version": version, "description": _ABOUT},
        "servers": [{"url": "/", "description": "This server."}],
        "tags": [{"name": title, "description": text} for title, text in SECTIONS.values() if title in used],
        "paths": paths,
        "components": {
            "schemas": known,
            "responses": shared,
            "headers": headers.of_answers(),
            "examples": refusals.examples(),
            "securitySchemes": {
                KEY: {"type": "http", "scheme": "bearer", "description": "An API key, such as gnm_..."}
            },
        },
    }


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def _shared(paths: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Most calls are refused alike: each refusal stands once, and the calls refer to it."""
    shared: dict[str, Any] = {}
    for item in paths.values():
        for operation in item.values():
            for status, response in operation["responses"].items():
                if status == "default" or status >= "400":
                    codes = "-".join(response["content"]["application/json"]["examples"])
                    name = f"{codes}-{len(response['headers'])}"
                    assert shared.setdefault(name, response) == response
                    operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
    return shared


def _operation(route: HTTPRouteHandler, path: str, known: Mapping[str, Any]) -> dict[str, Any]:
    name, policy = route.fn.__name__, route.opt["policy"]
    described = CALLS.get(name, CallDescription(""))
    operation: dict[str, Any] = {
        "tags": [SECTIONS.get(route.fn.__module__.rpartition(".")[2], ("Other", ""))[0]],
        "summary": described.summary,
        "description": cleandoc(route.fn.__doc__ or ""),
        "operationId": name,
        "parameters": [
            *_parameters(route, described, path),
            *headers.parameters(takes_key=described.takes_key, takes_version=described.takes_version),
        ],
        "responses": {**_success(route, described, policy, known), **_refusals(route, described, policy)},
    }
    reads = _reads(route)
    if reads is not None:
        operation["requestBody"] = _body(route, reads, described)
    if policy.scope is not None:
        operation["security"] = [{KEY: []}]
        operation["x-gnomon-scope"] = " or ".join(filter(None, (policy.scope, policy.or_scope)))
    return operation


def _parameters(route: HTTPRouteHandler, described: CallDescription, path: str) -> Iterator[dict[str, Any]]:
    for own_name, one in route.parsed_fn_signature.parameters.items():
        if own_name in OURS:
            continue
        kwarg: Any = one.kwarg_definition
        name = getattr(kwarg, "name", None) or own_name
        row = described.parameters.get(name) or PARAMETERS.get(name) or Field(None, "")
        words = _words(one.annotation)
        if words:
            row = word(row.text, str(row.example), words)
        place = "path" if f"{{{own_name}}}" in path else "header" if name == "Last-Event-ID" else "query"
        default = one.default if one.has_default and one.default is not None else None
        yield headers.parameter(name, place, row, is_required=place == "path", default=default)


def _words(annotation: Any) -> list[str]:
    """Those of an enumeration, which may be optional."""
    kinds = [annotation, *get_args(annotation)]
    return [
        str(one) for kind in kinds if isinstance(kind, type) and issubclass(kind, StrEnum) for one in kind
    ]


def _body(route: HTTPRouteHandler, reads: Any, described: CallDescription) -> dict[str, Any]:
    examples = {
        name.replace(" ", "_"): {"summary": name, "value": value} for name, value in described.bodies.items()
    }
    content = {"schema": schema_of(reads), **({"examples": examples} if examples else {})}
    is_required = type(None) not in get_args(reads)
    return {
        "description": "An object." if is_required else "An object, or nothing for the defaults.",
        "required": is_required,
        "content": {"application/json": content},
    }


def _success(
    route: HTTPRouteHandler, described: CallDescription, policy: Policy, known: Mapping[str, Any]
) -> dict[str, Any]:
    answers = _answers(route)
    if answers is None:
        kind = "string" if isinstance(described.answer, str) else "object"
        content: dict[str, Any] = {
            "schema": {"type": kind},
            **({"example": described.answer} if described.answer else {}),
        }
    else:
        schema = schema_of(answers)
        content = {"schema": schema, "example": example_of(schema, known)}
    names = ["X-Request-Id", *(headers.RATED if policy.rate is not None else ())]
    names += (["ETag"] if described.tags else []) + (["Location"] if described.locates else [])
    status = HTTPStatus(route.status_code)
    return {
        str(int(status)): {
            "description": f"{status.phrase}.",
            "headers": headers.referred(*names),
            "content": {_media_type(route): content},
        }
    }


def _refusals(route: HTTPRouteHandler, described: CallDescription, policy: Policy) -> dict[str, Any]:
    found = refusals.refusals_of(
        described,
        policy,
        named=route.parsed_fn_signature.parameters,
        has_body=bool({"POST", "PUT"} & set(route.http_methods)),
        is_stream="is_stream" in route.opt,
    )
    return {**refusals.responses(found, is_rated=policy.rate is not None), "default": refusals.any_other()}


def _media_type(route: HTTPRouteHandler) -> str:
    if "is_stream" in route.opt:
        return "text/event-stream"
    return str(getattr(route.media_type, "value", route.media_type) or "application/json")


def _reads(route: HTTPRouteHandler) -> Any:
    data = route.parsed_fn_signature.parameters.get("data")
    return None if data is None else data.annotation


def _answers(route: HTTPRouteHandler) -> Any:
    """The struct of an answer that is JSON. `Response[T]` is one of T."""
    returned: Any = route.parsed_fn_signature.return_type
    kind: Any = returned.inner_types[0].annotation if returned.inner_types else returned.annotation
    return kind if isinstance(kind, type) and hasattr(kind, "__struct_fields__") else None
