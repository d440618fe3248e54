"""The OpenAPI document as one page of HTML for people. It needs nothing from elsewhere, and no script."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from gnomon.api.described.curl import command, variables_in
from gnomon.api.described.document import operations
from gnomon.api.described.in_words import kind_of, marked, range_of

Document = dict[str, Any]


def page(document: Document, base: str) -> str:
    """All of it. `base` is the address of this server, without a slash at its end."""
    version = escape(document["info"]["version"])
    return "".join(
        [
            "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
            "<meta name='viewport' content='width=device-width, initial-scale=1'>",
            "<meta name='color-scheme' content='light dark'>",
            f"<title>Gnomon API {version}</title><link rel='stylesheet' href='/docs/style.css'></head><body>",
            "<a class='skip' href='#content'>Skip to the content</a>",
            *_contents(document),
            f"<main id='content'><h1>Gnomon API <small>{version}</small></h1>",
            *_before(document, base),
            *_sections(document, base),
            *_errors(document),
            *_schemas(document),
            "</main></body></html>",
        ]
    )


def _contents(document: Document) -> Iterator[str]:
    """A table of contents: beside the text where there is room, else folded above it."""
    yield "<nav aria-label='Contents'><details open><summary>Contents</summary><ul>"
    yield "<li><a href='#before'>Before you call</a></li>"
    for tag, calls in _by_tag(document):
        yield f"<li><a href='#{_anchor(tag['name'])}'>{escape(tag['name'])}</a><ul>"
        for _, method, operation in calls:
            yield (
                f"<li><a href='#{escape(operation['operationId'])}'><span "
                f"class='{method}'>{method.upper()}</span> "
                f"{escape(operation['summary'])}</a></li>"
            )
        yield "</ul></li>"
    yield "<li><a href='#errors'>Errors</a></li><li><a href='#schemas'>Schemas</a></li></ul></details></nav>"


def _before(document: Document, base: str) -> Iterator[str]:
    yield f"<section id='before'><h2>Before you call</h2><p>{marked(document['info']['description'])} "
    yield "The same as a document for programs: <a href='/openapi.json'>openapi.json</a>.</p>"
    names = dict.fromkeys(name for path, _, _ in operations(document) for name in variables_in(path))
    shown = ", ".join(f"<code>{escape(name)}</code>" for name in names)
    yield "<p>The commands below run as they stand. They take the key from <code>GNOMON_KEY</code>, and ids "
    yield f"in paths from variables of the shell: {shown}.</p>"
    yield f'<pre>GNOMON_KEY=gnm_...\nJOB_ID=...\n\ncurl -sS "{escape(base)}/v1/jobs/${{JOB_ID}}" \\\n'
    yield '  -H "Authorization: Bearer $GNOMON_KEY"</pre>'
    rows = [
        (
            f"<code>{escape(name)}</code>",
            marked(header["description"]),
            f"<code>{escape(str(header['example']))}</code>",
        )
        for name, header in document["components"]["headers"].items()
    ]
    yield "<h3>Headers of answers</h3>" + _table(("header", "meaning", "example"), rows) + "</section>"


def _sections(document: Document, base: str) -> Iterator[str]:
    for tag, calls in _by_tag(document):
        yield f"<section id='{_anchor(tag['name'])}'><h2>{escape(tag['name'])}</h2>"
        yield f"<p>{marked(tag['description'])}</p>"
        for path, method, operation in calls:
            yield from _call(document, base, path, method, operation)
        yield "</section>"


def _call(document: Document, base: str, path: str, method: str, operation: Document) -> Iterator[str]:
    name = escape(operation["operationId"])
    scope = operation.get("x-gnomon-scope")
    yield f"<article id='{name}'><h3><a href='#{name}'>{escape(operation['summary'])}</a></h3>"
    yield f"<p class='call'><span class='{method}'>{method.upper()}</span> <code>{_breakable(path)}</code> "
    yield f"<small>{f'scope: {escape(scope)}' if scope else 'no key needed'}</small></p>"
    yield f"<p>{marked(operation['description'])}</p>"
    yield f"<pre>{escape(command(base, path, method, operation))}</pre>"
    if operation["parameters"]:
        yield "<h4>Parameters</h4>" + _table(_COLUMNS, (_parameter(one) for one in operation["parameters"]))
    yield from _body(document, operation)
    yield from _answers(document, operation)
    yield "</article>"


_COLUMNS = ("name", "type", "values", "meaning", "example")


def _parameter(one: Document) -> tuple[str, ...]:
    schema = one["schema"]
    place = "" if one["in"] == "query" else f" <small>{escape(one['in'])}</small>"
    return (
        f"<code>{escape(one['name'])}</code>{place}{' <small>required</small>' if one['required'] else ''}",
        kind_of(schema),
        _values(schema),
        marked(one["description"]),
        _value(one["example"]),
    )


def _body(document: Document, operation: Document) -> Iterator[str]:
    body = operation.get("requestBody")
    if body is None:
        return
    content = body["content"]["application/json"]
    left_out = "" if body["required"] else ", may be left out"
    yield f"<h4>Body <small>{kind_of(content['schema'])}{left_out}</small></h4>"
    for one in content["schema"].get("anyOf", [content["schema"]]):
        if "$ref" in one:
            yield _fields(document["components"]["schemas"][one["$ref"].rpartition("/")[2]])
    for example in content.get("examples", {}).values():
        yield _example(example["summary"], example["value"])


def _answers(document: Document, operation: Document) -> Iterator[str]:
    yield "<h4>Answers</h4>"
    rows, example = [], ""
    for status, response in operation["responses"].items():
        shown = _resolved(document, response)
        [(kind, content)] = shown["content"].items()
        if status < "400":
            what = kind_of(content["schema"]) if kind == "application/json" else escape(kind)
            if "example" in content:
                example = _example(f"Example of {status}", content["example"])
        elif status == "default":
            what = marked(shown["description"])
        else:
            what = ", ".join(_to_error(code) for code in content["examples"])
        rows.append(
            (escape(status), what, ", ".join(f"<code>{escape(name)}</code>" for name in shown["headers"]))
        )
    yield _table(("status", "answer", "headers"), rows) + example


def _errors(document: Document) -> Iterator[str]:
    yield "<section id='errors'><h2>Errors</h2><p>By their codes, which do not change.</p>"
    for code, example in sorted(document["components"]["examples"].items()):
        yield f"<article id='error-{escape(code)}'><h3><code>{escape(code)}</code></h3>"
        yield f"<p>{marked(example['summary'])}</p><pre>{_json(example['value'])}</pre></article>"
    yield "</section>"


def _schemas(document: Document) -> Iterator[str]:
    yield "<section id='schemas'><h2>Schemas</h2><p>What calls read and answer, by name.</p>"
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield f"<article id='schema-{escape(name)}'><h3><code>{escape(name)}</code></h3>"
        yield f"<p>{marked(schema.get('description', ''))}</p>"
        yield _fields(schema) if "properties" in schema else f"<p>{_values(schema)}</p>"
        yield "</article>"
    yield "</section>"


def _fields(schema: Document) -> str:
    required = set(schema.get("required", ()))
    rows = (
        (
            f"<code>{escape(name)}</code>{' <small>required</small>' if name in required else ''}",
            kind_of(one),
            _values(one),
            marked(one.get("description", "")),
            _value(one["examples"][0]) if "examples" in one else "",
        )
        for name, one in sorted(schema["properties"].items(), key=lambda field: field[0] not in required)
    )
    return _table(_COLUMNS, rows)


def _values(schema: Document) -> str:
    default = f"default <code>{escape(json.dumps(schema['default']))}</code>" if "default" in schema else ""
    return "; ".join(filter(None, (range_of(schema), default)))


def _value(example: Any) -> str:
    return f"<code>{escape(json.dumps(example, ensure_ascii=False))}</code>"


def _example(title: str, value: Any) -> str:
    text = escape(value) if isinstance(value, str) else _json(value)
    return f"<details><summary>{escape(title)}</summary><pre>{text}</pre></details>"


def _json(value: Any) -> str:
    return escape(json.dumps(value, indent=2, ensure_ascii=False))


def _table(titles: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Of cells that are HTML. Where there is little room, a cell stands below its title."""
    head = "".join(f"<th scope='col'>{escape(title)}</th>" for title in titles)
    lines = (zip(titles, row, strict=True) for row in rows)
    body = "".join(
        f"<tr>{''.join(f'<td data-title={title!r}>{cell}</td>' for title, cell in line)}</tr>"
        for line in lines
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _by_tag(document: Document) -> Iterator[tuple[Document, list[tuple[str, str, Document]]]]:
    for tag in document["tags"]:
        yield tag, [one for one in operations(document) if one[2]["tags"] == [tag["name"]]]


def _resolved(document: Document, response: Document) -> Document:
    if "$ref" not in response:
        return response
    found: Document = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return found


def _to_error(code: str) -> str:
    return f"<a href='#error-{escape(code)}'><code>{escape(code)}</code></a>"


def _breakable(path: str) -> str:
    return escape(path).replace("/", "/<wbr>")


def _anchor(title: str) -> str:
    return f"section-{title.lower().replace(' ', '-')}"
