"""YAML that would be lost, or never end, is refused with its line."""

from __future__ import annotations

import pytest

from gnomon.cli.files.yaml_files import decode
from gnomon.errors import InvalidInput


def read(text: str) -> object:
    return decode(text, field="FILE", path="etl.yaml")


def test_yaml_is_read_and_times_are_text() -> None:
    assert read("a: 1\nb: [x, 2026-01-01]\n") == {"a": 1, "b": ["x", "2026-01-01"]}
    assert read('{"a": {"b": null}}') == {"a": {"b": None}}
    assert read("") is None
    assert read("base: &b {x: 1, y: 2}\nmine: {<<: *b, x: 3}\n") == {
        "base": {"x": 1, "y": 2},
        "mine": {"x": 3, "y": 2},
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("name: x\ntasks: &t\n  - {name: a, payload: {d: *t}}\n", "etl.yaml:2: the anchor here holds"),
        ("&a {b: *a}", "etl.yaml:1: the anchor here holds"),
        ("name: x\nname: y\n", "etl.yaml:2: the key 'name' is there twice."),
        ('{"a": {"b": 1, "b": 2}}', "etl.yaml:1: the key 'b' is there twice."),
        ("a: [", "is not YAML"),
        ("a: 1\n---\nb: 2\n", "is not YAML"),
        ("a: 2026-13-45", "is not YAML"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match="FILE") as refused:
        read(text)
    assert reason in str(refused.value)
