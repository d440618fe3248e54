"""What a script job may say."""

from __future__ import annotations

import os

import pytest

from gnomon.errors import InvalidInput
from gnomon.handlers.script.handler import ScriptHandler
from gnomon.settings import HandlerSettings

handler = ScriptHandler(HandlerSettings())
BASH = {"interpreter": "bash", "script": "true"}


@pytest.mark.parametrize(
    "payload",
    [
        BASH,
        {"interpreter": ["bash", "-eu"], "script": ""},
        {"argv": ["ls", ""]},
        BASH | {"env": {"COLOUR": "red", "PATH": "/opt/bin"}, "arguments": {"any": [1]}},
    ],
)
def test_a_good_payload_is_taken(payload: dict[str, object]) -> None:
    handler.check(payload)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({}, "payload"),
        ({"script": "true"}, "payload"),
        ({"interpreter": "bash"}, "payload"),
        (BASH | {"argv": ["ls"]}, "payload.argv"),
        ({"argv": []}, "payload.argv"),
        ({"argv": [" "]}, "payload.argv"),
        ({"argv": ["ls", "a\0b"]}, "payload.argv"),
        ({"argv": "ls"}, "payload.argv"),
        (BASH | {"script": "a\0b"}, "payload.script"),
        (BASH | {"stdin": "x"}, "payload.stdin"),
        (BASH | {"env": {"A B": "1"}}, "payload.env.A B"),
        (BASH | {"env": {"A=B": "1"}}, "payload.env.A=B"),
        (BASH | {"env": {"A": 1}}, "payload.env[...]"),
        (BASH | {"env": {"A": "\0"}}, "payload.env.A"),
        (BASH | {"env": {"A": "x" * 200_000}}, "payload.env.A"),
    ],
)
def test_a_bad_payload_is_refused_by_field(payload: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        handler.check(payload)  # type: ignore[arg-type]
    assert refused.value.field == field


@pytest.mark.parametrize(
    "name", ["LD_PRELOAD", "GNOMON_RESULT", "PYTHONSTARTUP", "BASH_ENV", "BASH_FUNC_x", "IFS", "ENV", "HOME"]
)
def test_a_job_does_not_set_how_programs_are_run(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        handler.check(BASH | {"env": {name: "x"}})
    assert refused.value.field == f"payload.env.{name}"


def test_a_user_who_cannot_be_had_is_refused_at_the_start() -> None:
    unknown = HandlerSettings(script_user="no-such-user")
    with pytest.raises(InvalidInput, match="script_user"):
        ScriptHandler(unknown)
    if os.geteuid() != 0:
        with pytest.raises(InvalidInput, match="only root"):
            ScriptHandler(HandlerSettings(script_user="root"))
