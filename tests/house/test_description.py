"""The description of the API keeps up: whatever a call reads or answers has its words, range and example."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import getsource
from typing import Any

import jsonschema_rs
import msgspec
from litestar import post

from gnomon.api.application import ROUTES
from gnomon.api.described.call import CallDescription
from gnomon.api.described.document import describe, operations
from gnomon.api.described.field import BYTES_MAX, UNBOUNDED, Fields
from gnomon.api.described.tables import CALLS, FIELDS
from gnomon.api.serving.policy import READS
from gnomon.core.values.forms import Form
from gnomon.handlers.discovery import installed_kinds
from gnomon.settings import HandlerSettings
from tests.house.tree import must_be_empty

Schema = Mapping[str, Any]
TABLES = "src/gnomon/api/described"
_UNBOUNDED = next(iter(UNBOUNDED))
_RANGES = {
    "integer": ({"minimum", "maximum"},),
    "number": ({"minimum", "maximum"},),
    "string": ({"format"}, {"pattern"}, {"maxLength"}, {BYTES_MAX}),
    "array": ({"maxItems"},),
}


@cache
def document() -> dict[str, Any]:
    return describe(ROUTES, "1.0")


def test_every_call_and_every_field_is_described() -> None:
    must_be_empty(list(undescribed(document())))


def test_no_row_outlives_what_it_describes() -> None:
    must_be_empty([*stale_rows(FIELDS), *stale_calls()])


def test_every_example_fits_its_schema() -> None:
    must_be_empty(list(misfits(document())))


def test_the_kinds_that_it_names_are_those_that_there_are() -> None:
    kind = document()["components"]["schemas"]["NewJob"]["properties"]["kind"]
    assert (
        frozenset(re.findall("`(.*?)`", kind["description"])) == installed_kinds(HandlerSettings()).installed
    )


def test_headers_are_described_where_handlers_read_them() -> None:
    must_be_empty(list(misplaced_headers()))


def test_what_is_not_described_is_found() -> None:
    class Plain(Form):
        name: str
        tags: list[str]
        size: int

    found = describe([_route(Plain)], "1.0")
    assert list(undescribed(found)) == [
        f"{TABLES}: the call plain has no section, summary, description, example of its body.",
        f"{TABLES}: the answer 201 of plain has no example.",
        f"{TABLES}: Plain.name has no description, range, example.",
        f"{TABLES}: Plain.size has no description, range, example.",
        f"{TABLES}: Plain.tags has no description, range, example.",
    ]


def test_a_row_of_a_field_that_is_gone_is_found() -> None:
    class Plain(Form):
        name: str

    rows = next(iter(FIELDS.values()))
    [name] = list(rows)[:1]
    assert f"{TABLES}: the row of Plain.{name} describes no field any more." in stale_rows({Plain: rows})


# What is missing ------------------------------------------------------------------------------------


def undescribed(described: Schema) -> Iterator[str]:
    ids = [operation["operationId"] for _, _, operation in operations(described)]
    for name in sorted({one for one in ids if ids.count(one) > 1}):
        yield f"{TABLES}: two calls are named {name}."
    for _, _, operation in operations(described):
        name = operation["operationId"]
        yield from _missing(f"the call {name}", _of_call(operation))
        for one in operation["parameters"]:
            place = f"the parameter {one['name']} of {name}"
            yield from _missing(place, _of_value({**one["schema"], **one, "examples": [one["example"]]}))
        yield from _of_answers(described, name, operation)
    for name, header in described["components"]["headers"].items():
        yield from _missing(f"the header {name}", _of_value({**header["schema"], **header}))
    for name, schema in sorted(described["components"]["schemas"].items()):
        for field, one in sorted(schema.get("properties", {}).items()):
            yield from _missing(f"{name}.{field}", _of_value(one))


def _of_call(operation: Schema) -> Iterator[str]:
    if operation["tags"] == ["Other"]:
        yield "section"
    for word in ("summary", "description"):
        if not operation[word]:
            yield word
    if "requestBody" in operation and not operation["requestBody"]["content"]["application/json"].get(
        "examples"
    ):
        yield "example of its body"


def _of_answers(described: Schema, name: str, operation: Schema) -> Iterator[str]:
    for status, response in operation["responses"].items():
        place = f"the answer {status} of {name}"
        shown = _at(described, response)
        [content] = shown["content"].values()
        gone = [] if {"example", "examples"} & content.keys() else ["example"]
        gone += [f"header {one}" for one in shown["headers"] if one not in described["components"]["headers"]]
        known = described["components"]["examples"]
        gone += [f"example of {code}" for code in content.get("examples", ()) if code not in known]
        yield from _missing(place, gone)


def _of_value(schema: Schema) -> Iterator[str]:
    if not schema.get("description"):
        yield "description"
    if not _has_range(schema):
        yield "range"
    if "examples" not in schema and not _is_made_of_parts(schema):
        yield "example"


def _has_range(schema: Schema) -> bool:
    if "anyOf" in schema:
        return all(map(_has_range, schema["anyOf"]))
    if "enum" in schema or "$ref" in schema:
        return True
    kind = schema.get("type")
    if kind is None:
        return BYTES_MAX in schema
    if kind == "array" and not _has_range(schema["items"]):
        return False
    ranges = _RANGES.get(kind)
    return ranges is None or _UNBOUNDED in schema or any(one <= schema.keys() for one in ranges)


def _is_made_of_parts(schema: Schema) -> bool:
    """Its own schema has the examples."""
    if "anyOf" in schema:
        return any(map(_is_made_of_parts, schema["anyOf"]))
    return "$ref" in schema or (schema.get("type") == "array" and _is_made_of_parts(schema["items"]))


def _missing(place: str, gone: Any) -> Iterator[str]:
    names = ", ".join(gone)
    if names:
        yield f"{TABLES}: {place} has no {names}."


# What is left over ----------------------------------------------------------------------------------


def stale_rows(fields: Fields) -> list[str]:
    return [
        f"{TABLES}: the row of {struct.__name__}.{name} describes no field any more."
        for struct, rows in fields.items()
        for name in rows
        if name not in struct.__struct_encode_fields__
    ]


def stale_calls() -> list[str]:
    calls = {operation["operationId"]: operation for _, _, operation in operations(document())}
    gone = [f"{TABLES}: {name} is no call any more." for name in CALLS if name not in calls]
    for name, described in CALLS.items():
        known = {one["name"] for one in calls.get(name, {}).get("parameters", ())}
        gone += [
            f"{TABLES}: {name} has no parameter {one} any more."
            for one in described.parameters
            if one not in known
        ]
    return gone


def misplaced_headers() -> Iterator[str]:
    for route in ROUTES:
        source, described = getsource(route.fn), CALLS.get(route.fn.__name__, CallDescription(""))
        for read, is_described in (
            ("request.idempotency(", described.takes_key),
            ("request.version(", described.takes_version),
        ):
            if (read in source) != is_described:
                yield f"{TABLES}: {route.fn.__name__} and its row disagree about `{read}...)`."


# What does not fit ----------------------------------------------------------------------------------


def misfits(described: Schema) -> Iterator[str]:
    for place, schema, example in _examples(described):
        whole = {**schema, "components": described["components"]}
        error = next(
            jsonschema_rs.Draft202012Validator(whole, validate_formats=True).iter_errors(example), None
        )
        if error is not None:
            yield f"{TABLES}: the example of {place} does not fit: {error.message}."


def _examples(described: Schema) -> Iterator[tuple[str, Schema, Any]]:
    for name, schema in described["components"]["schemas"].items():
        for field, one in schema.get("properties", {}).items():
            for example in one.get("examples", ()):
                yield f"{name}.{field}", one, example
    for name, header in described["components"]["headers"].items():
        yield f"the header {name}", header["schema"], header["example"]
    envelope = {"$ref": "#/components/schemas/Envelope"}
    for code, example in described["components"]["examples"].items():
        yield f"the error {code}", envelope, example["value"]
    yield from _examples_of_calls(described)


def _examples_of_calls(described: Schema) -> Iterator[tuple[str, Schema, Any]]:
    for _, _, operation in operations(described):
        name = operation["operationId"]
        for one in operation["parameters"]:
            yield f"{one['name']} of {name}", one["schema"], one["example"]
        contents = [("body", operation["requestBody"])] if "requestBody" in operation else []
        contents += [
            (status, _at(described, one)) for status, one in operation["responses"].items() if status < "4"
        ]
        for part, one in contents:
            for content in one["content"].values():
                shown = [example["value"] for example in content.get("examples", {}).values()]
                for example in [*shown, *([content["example"]] if "example" in content else [])]:
                    yield f"the {part} of {name}", content["schema"], example


def _at(described: Schema, response: Schema) -> Schema:
    if "$ref" not in response:
        return response
    found: Schema = described["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return found


def _route(form: type[msgspec.Struct]) -> Any:
    async def plain(data: Any) -> None: ...

    plain.__annotations__["data"] = form
    return post("/plain", policy=READS)(plain)
