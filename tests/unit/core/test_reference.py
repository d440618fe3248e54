"""References inside of payloads, and conditions on what they stand for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.values.document import JSON
from gnomon.core.workflows.references import Comparison, Condition, Reference, Source, Unresolved, references
from gnomon.core.workflows.rendering import rendered
from gnomon.errors import InvalidInput

RESULT: JSON = {"n": 3, "text": "abc", "yes": True, "rows": [1, {"x": None}], "a.b": "dotted"}
TEXTS = st.text(alphabet="$${}tasks.config[\"]\\ 'r0", max_size=30)


class Fixed:
    def of(self, reference: Reference) -> JSON:
        if reference.source is Source.TASKS and reference.task != "t":
            raise Unresolved("nobody")
        return RESULT


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("${tasks.t.result}", RESULT),
        ("${tasks.t.result.rows[1]}", {"x": None}),
        ('${tasks["t"].result["a.b"]}', "dotted"),
        ("n=${tasks.t.result.n}, ${tasks.t.result.rows}", 'n=3, [1, {"x": null}]'),
        ("${config.yes}${config.text}", "trueabc"),
        ("$${tasks.t.result} stays, and ${HOME} and ${secrets.KEY} are not ours", None),
        ("${run} and ${runner.x} are not ours", "${run} and ${runner.x} are not ours"),
        ("$${run.day}", "${run.day}"),
        ({"deep": [{"${config.n}": "${config.n}"}]}, {"deep": [{"${config.n}": 3}]}),
        (17, 17),
    ],
)
def test_a_reference_becomes_its_value(template: JSON, value: JSON) -> None:
    plain = "${tasks.t.result} stays, and ${HOME} and ${secrets.KEY} are not ours"
    assert rendered(template, Fixed(), field="payload")[0] == (plain if value is None else value)


@pytest.mark.parametrize("path", ["gone", "rows.0", "rows[2]", "rows.x", "n.x", "n[0]", "text[0]"])
def test_what_is_not_there_is_said(path: str) -> None:
    with pytest.raises(Unresolved, match="The result of task 't' has no "):
        rendered(f"${{tasks.t.result.{path}}}", Fixed(), field="payload")


@pytest.mark.parametrize(
    ("path", "comparison", "value", "holds"),
    [
        ("n", "==", 3, True),
        ("n", "==", 3.0, True),
        ("yes", "==", 1, False),
        ("yes", "==", True, True),
        ("n", "!=", 4, True),
        ("n", "<", 4, True),
        ("n", "<", 3, False),
        ("n", "<=", 3, True),
        ("n", ">", 2.5, True),
        ("n", ">=", 4, False),
        ("text", "<", "abd", True),
        ("text", ">", 3, False),
        ("text", "<=", 3, False),
        ("yes", ">=", 0, False),
        ("n", "in", [1, 2, 3], True),
        ("yes", "in", [1], False),
        ("n", "in", 3, False),
        ("rows", "exists", None, True),
        ("gone", "exists", None, False),
        ("gone", "!=", 3, False),
        ("gone", "==", None, False),
    ],
)
def test_a_condition_compares_as_json_does(path: str, comparison: str, value: JSON, holds: bool) -> None:
    condition = Condition(Reference(Source.TASKS, "t", (path,)), Comparison(comparison), value)
    assert condition.holds(Fixed()) is holds


@given(TEXTS)
def test_any_text_is_read_or_refused_and_what_is_not_ours_stays(text: str) -> None:
    try:
        found = list(references(text, field="payload"))
        value, _ = rendered(text, Fixed(), field="payload")
    except (InvalidInput, Unresolved):
        return
    if not found and "$${" not in text:
        assert value == text


def test_a_text_full_of_openings_is_read_in_a_bounded_way() -> None:
    """Counted in characters looked at, this would be the square of the length if the pattern had no bound."""
    for opening in ('$${tasks.\\"', "$${tasks.", '$${tasks."'):
        assert not list(references(opening * 20_000, field="payload"))
    with pytest.raises(InvalidInput, match="no closing brace"):
        list(references("${tasks." * 20_000, field="payload"))


@pytest.mark.parametrize(
    "text",
    ["${run.day}", "${index}", '${tasks["a b"].result["x.y"][0].z}', "${config.a-b}", '${item["a\\"b"]}'],
)
def test_a_reference_is_shown_as_it_was_written(text: str) -> None:
    assert [str(one) for one in references(text, field="payload")] == [text]
