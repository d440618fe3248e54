"""The schemas of what calls read and answer: from the structs, with what the tables say of each field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, inspect

from gnomon.api.described.field import Field, Fields, Rows

Schema = dict[str, Any]
TEMPLATE = "#/components/schemas/{name}"
_OF_TYPE = {
    "string": {"minLength", "maxLength", "pattern", "format", "enum"},
    "number": {"minimum", "maximum", "exclusiveMinimum"},
    "array": {"items", "minItems", "maxItems"},
    "object": {"$ref"},
}


def components(structs: Iterable[Any], fields: Fields, shapes: Mapping[str, Rows]) -> dict[str, Schema]:
    """By name. What the tables do not say is not there; the house test tells."""
    asked = list(structs)
    _, found = msgspec.json.schema_components(asked, ref_template=TEMPLATE)
    classes = {one.__name__: one for one in structs_in(asked)}
    shown = {name: _described(found[name], rows_of(cls, fields)) for name, cls in classes.items()}
    return shown | {name: one for name, one in found.items() if name not in classes} | _shapes(shapes)


def schema_of(annotation: Any) -> Schema:
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return {"$ref": TEMPLATE.format(name=annotation.__name__)}
    if get_origin(annotation) in (Union, UnionType):
        return {"anyOf": [schema_of(one) for one in get_args(annotation)]}
    (found,), _ = msgspec.json.schema_components([annotation], ref_template=TEMPLATE)
    return _simple(found)


def rows_of(cls: type, fields: Fields) -> dict[str, Field]:
    """Those of a struct and of the structs that it extends."""
    rows: dict[str, Field] = {}
    for base in reversed(cls.__mro__):
        rows |= fields.get(base, {})
    return rows


def structs_in(annotations: Iterable[Any]) -> list[type]:
    """Every struct that may be inside a value, with its own."""
    seen: dict[type, None] = {}
    todo: list[Any] = list(inspect.multi_type_info(list(annotations)))
    while todo:
        match todo.pop():
            case inspect.StructType(cls=cls, fields=fields):
                if cls not in seen:
                    seen[cls] = None
                    todo += [field.type for field in fields]
            case inspect.UnionType(types=types):
                todo += types
            case inspect.CollectionType(item_type=item):
                todo.append(item)
            case inspect.DictType(value_type=value):
                todo.append(value)
    return list(seen)


def example_of(schema: Schema, known: Mapping[str, Schema]) -> Any:
    """A value that the examples inside of a schema make up."""
    if "examples" in schema:
        return schema["examples"][0]
    if "$ref" in schema:
        return example_of(known[schema["$ref"].rpartition("/")[2]], known)
    if "anyOf" in schema:
        return example_of(schema["anyOf"][0], known)
    if schema.get("type") == "array":
        return [example_of(schema["items"], known)]
    if "enum" in schema:
        return schema["enum"][0]
    if "properties" in schema:
        return {name: example_of(one, known) for name, one in schema["properties"].items()}
    return {} if schema.get("type") == "object" else None


def _described(schema: Schema, rows: Rows) -> Schema:
    properties = schema.get("properties", {})
    told = {name: _with(_simple(one), rows.get(name)) for name, one in properties.items()}
    return {**schema, **({"properties": told} if "properties" in schema else {})}


def _with(schema: Schema, row: Field | None) -> Schema:
    """The limits of a row go to the member of a union that they can hold for."""
    if row is None:
        return schema
    if "anyOf" in schema:
        inner = {**schema, "anyOf": [_limited(one, row) for one in schema["anyOf"]]}
    else:
        inner = _limited(schema, row)
    return row.told(inner)


def _limited(schema: Schema, row: Field) -> Schema:
    kind = "number" if schema.get("type") == "integer" else schema.get("type")
    if kind == "null":
        return schema
    if kind == "object" and "$ref" in row.limits:
        return dict(row.limits)
    fitting = _OF_TYPE.get(kind or "", set())
    limits = {name: limit for name, limit in row.limits.items() if name in fitting or name.startswith("x-")}
    if "items" in limits and "$ref" not in limits["items"]:
        limits["items"] = {**schema.get("items", {}), **limits["items"]}
    return {**schema, **limits}


def _simple(schema: Schema) -> Schema:
    """An integer is a number, and a union of one is that one."""
    if "anyOf" not in schema:
        return {name: one for name, one in schema.items() if name != "default" or one is not None}
    kinds = [one.get("type") for one in schema["anyOf"]]
    members = [one for one in schema["anyOf"] if one.get("type") != "integer" or "number" not in kinds]
    rest = {name: one for name, one in schema.items() if name != "anyOf"}
    if rest.get("default", UNSET) is None:
        del rest["default"]
    return {**members[0], **rest} if len(members) == 1 else {**rest, "anyOf": members}


def _shapes(shapes: Mapping[str, Rows]) -> dict[str, Schema]:
    return {
        name: {
            "title": name,
            "type": "object",
            "properties": {one: row.schema for one, row in rows.items()},
            "required": [one for one, row in rows.items() if not row.is_optional],
        }
        for name, rows in shapes.items()
    }
