"""Scripts as real processes: what they are given, what they give back, and how they end."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from gnomon.core.values.document import JSON
from gnomon.core.values.limits import LOG_BYTES_MAX
from gnomon.handlers.script.confinement import landlock_version
from gnomon.handlers.script.handler import ScriptHandler
from tests.attempts import EXECUTION_ID, a_payload, an_attempt
from tests.integration.handlers.processes import text_of, with_marker
from tests.integration.handlers.scripts import bash, failure, logged

# Also as the worker's own user, even if that is root.
as_everybody = pytest.mark.parametrize("user", [None] if os.geteuid() else [None, "root"])


@as_everybody
async def test_it_ends_well(handler: ScriptHandler) -> None:
    assert await handler.run(bash("exit 0"), an_attempt()) == {"exit_code": 0}


@as_everybody
async def test_it_may_leave_a_result(handler: ScriptHandler) -> None:
    script = """echo '{"rows": 3}' > "$GNOMON_RESULT" """
    assert await handler.run(bash(script), an_attempt()) == {"rows": 3}


async def test_a_program_runs_without_a_shell(
    handler: ScriptHandler, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "gnomon.job"):
        await handler.run(a_payload({"argv": ["echo", "$(id)", ";", "a b"]}), an_attempt())
    assert caplog.messages == ["$(id) ; a b"]


@pytest.mark.parametrize(
    ("script", "kind", "said"),
    [
        ("exit 3", "exit_code", "exit code 3"),
        ("exit 75", "exit_code", "exit code 75"),
        ("kill -SEGV $$", "signal", "SIGSEGV"),
        ("while :; do :; done", "limit", "time on the processor"),
        ("exec head -c 5M /dev/zero > big", "limit", "size of a file"),
    ],
)
async def test_how_it_fails_is_told(handler: ScriptHandler, script: str, kind: str, said: str) -> None:
    failed = await failure(handler, bash(script))
    assert failed.kind == kind
    assert said in str(failed)
    assert not failed.permanent


async def test_an_interpreter_that_is_not_there_is_told(handler: ScriptHandler) -> None:
    failed = await failure(handler, a_payload({"interpreter": "no-such-thing", "script": ""}))
    assert failed.kind == "not_started"
    assert "'no-such-thing' cannot be executed" in str(failed)


async def test_parameters_are_values_never_text(handler: ScriptHandler) -> None:
    hostile = "$(touch pwned) ; `id` \n' \" \\"
    script = """
    test -z "$(ls)" || exit 9
    cp "$GNOMON_INPUT" input.json
    printf '{"input": %s, "param": "%s"}' "$(cat input.json)" "$(printf %s "$GNOMON_PARAM_name" | wc -c)" \
        > "$GNOMON_RESULT"
    test ! -e pwned
    """
    given = an_attempt(input={"name": hostile, "deep": {"a": 1}, "odd name": 1, "LD_PRELOAD": "x"})
    result = await handler.run(bash(script, arguments={"name": "over", "kept": 7}), given)
    assert result == {
        "input": {"name": hostile, "kept": 7, "deep": {"a": 1}, "odd name": 1, "LD_PRELOAD": "x"},
        "param": str(len(hostile)),
    }


async def test_its_environment_is_clean(handler: ScriptHandler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://user:secret@db/x")
    with logged() as lines:
        await handler.run(bash("env", env={"COLOUR": "red"}), an_attempt(input={"n": 1}, attempt=2))
    found = dict(line.split("=", 1) for line in lines)
    assert found["COLOUR"] == "red"
    assert found["GNOMON_PARAM_n"] == "1"
    assert found["GNOMON_EXECUTION_ID"] == str(EXECUTION_ID)
    assert found["GNOMON_ATTEMPT"] == "2"
    assert found["GNOMON_FENCING_TOKEN"] == f"{EXECUTION_ID}:3"
    assert "DATABASE_URL" not in found
    own = {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "HOME", "TMPDIR", "PWD", "SHLVL", "_", "COLOUR"}
    assert {name for name in found if not name.startswith("GNOMON_")} <= own


@as_everybody
async def test_it_is_held(handler: ScriptHandler) -> None:
    script = """
    grep -E '^(NoNewPrivs|SigIgn|Uid):' /proc/self/status
    ulimit -c; ulimit -f; ulimit -n; ulimit -v; ulimit -t
    ls -l /proc/self/fd | wc -l
    test "$(readlink /proc/self/fd/0)" = /dev/null
    """
    with logged() as lines:
        await handler.run(bash(script), an_attempt())
    uid, sigign, privs = (line.split() for line in lines[:3])
    assert int(uid[1]) == (os.getuid() if handler._user is None else handler._user.uid)
    assert len(set(uid[1:])) == 1
    # 32 and 33 belong to the C library; whoever started us may have left them ignored.
    assert int(sigign[1], 16) & ~(0b11 << 31) == 0
    assert privs[1] == "1"
    assert lines[3:8] == ["0", "1024", "256", str(512 * 1024), "1"]
    assert int(lines[8]) <= 5  # A head line, three descriptors, and the folder that ls reads.


async def test_what_it_writes_is_logged_line_by_line(
    handler: ScriptHandler, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "gnomon.job"):
        await handler.run(bash(r"echo out; echo err >&2; printf 'no end \xff'"), an_attempt())
    logged = {(record.levelname, record.getMessage()) for record in caplog.records}
    assert logged == {("INFO", "out"), ("WARNING", "err"), ("INFO", "no end \ufffd")}


def with_time(handler: ScriptHandler) -> ScriptHandler:
    """For scripts that take more of the processor than a second, on a slow machine."""
    return ScriptHandler(replace(handler._settings, script_cpu=timedelta(seconds=60)))


async def test_a_gigabyte_of_output_neither_blocks_nor_grows_memory(handler: ScriptHandler) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with logged() as lines:
        await with_time(handler).run(bash("yes $(printf %01000d 7) | head -c 1G"), an_attempt())
    kept = sum(len(line) for line in lines)
    assert LOG_BYTES_MAX <= kept < LOG_BYTES_MAX + 20_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024


@as_everybody
async def test_what_it_leaves_running_is_gone_when_it_has_ended(handler: ScriptHandler) -> None:
    marker = f"1000.{uuid4().int % 10**9}"
    await handler.run(bash(f"setsid sleep {marker} & (setsid sleep {marker} &) ; disown -a"), an_attempt())
    assert not with_marker(marker)


async def cancelled(handler: ScriptHandler, payload: JSON, *, ready: Path) -> str:
    task = asyncio.create_task(handler.run(payload, an_attempt()))
    text = await text_of(ready)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return text


@as_everybody
async def test_cancelling_kills_daemons_and_those_who_ignore_it(
    handler: ScriptHandler, open_folder: Path
) -> None:
    marker, ready = f"1000.{uuid4().int % 10**9}", open_folder / "ready"
    script = f"""
    trap '' TERM INT HUP
    setsid sleep {marker} &
    (setsid setsid bash -c "trap '' TERM; (sleep {marker} &) ; sleep {marker}" &)
    sleep 0.2
    echo ready > {ready}
    sleep {marker}
    sleep {marker}
    """
    await cancelled(handler, bash(script), ready=ready)
    assert not with_marker(marker)


async def test_cancelling_asks_first(handler: ScriptHandler, open_folder: Path) -> None:
    ready, tidied = open_folder / "ready", open_folder / "tidied"
    patient = ScriptHandler(replace(handler._settings, script_grace=timedelta(seconds=10)))
    script = f"trap 'echo tidy > {tidied}; exit' TERM; echo ready > {ready}; while :; do sleep 0.01; done"
    await cancelled(patient, bash(script), ready=ready)
    assert tidied.exists()


async def test_a_fork_bomb_goes_off_inside_its_limits(handler: ScriptHandler, open_folder: Path) -> None:
    marker, ready = f"bomb{uuid4().hex}", open_folder / "ready"
    script = f"""
    echo ready > {ready}
    bomb() {{ bomb {marker} | bomb {marker} & }}; bomb
    exec -a {marker} bash -c 'while :; do (: &) ; done' {marker}
    """
    await cancelled(with_time(handler), bash(script), ready=ready)
    assert not with_marker(marker)


async def test_the_program_goes_when_the_worker_lets_go(handler: ScriptHandler, open_folder: Path) -> None:
    """What happens when the worker is killed: the pipe to the launcher ends."""
    place = open_folder / "scripts"
    marker, ready = f"1000.{uuid4().int % 10**9}", open_folder / "ready"
    code = f"""
import asyncio, os, signal, sys
from gnomon.handlers.script.handler import ScriptHandler
from gnomon.settings import HandlerSettings
from tests.attempts import a_payload, an_attempt
payload = a_payload({{"interpreter": "bash", "script": "sleep {marker} & echo r > {ready}; sleep {marker}"}})
asyncio.run(ScriptHandler(HandlerSettings(script_folder={str(place)!r})).run(payload, an_attempt()))
"""
    worker = await asyncio.create_subprocess_exec(sys.executable, "-c", code, cwd=Path.cwd())
    await text_of(ready)
    worker.kill()
    await worker.wait()
    while with_marker(marker) or any(place.iterdir()):  # noqa: ASYNC110 - the kernel sets no event for us.
        await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    "script",
    [
        'ln -s /etc/passwd "$GNOMON_RESULT"',
        'mkfifo "$GNOMON_RESULT"',
        'mkdir "$GNOMON_RESULT"',
        'echo nonsense > "$GNOMON_RESULT"',
        """printf '[%.0s' {1..9999} > "$GNOMON_RESULT" """,
        'head -c 1048577 /dev/zero | tr "\\0" 1 > "$GNOMON_RESULT"; exit 0',
        """echo '{"a": "\\u0000"}' > "$GNOMON_RESULT" """,
    ],
)
async def test_a_result_that_is_none_fails_for_good(handler: ScriptHandler, script: str) -> None:
    failed = await failure(handler, bash(script))
    assert (failed.kind, failed.permanent) == ("bad_result", True)


@as_everybody
async def test_folders_that_a_script_locked_are_removed(handler: ScriptHandler) -> None:
    await handler.run(bash("mkdir -p a/b; touch a/b/c; chmod 0 a/b a; ln -s / root"), an_attempt())


@as_everybody
async def test_a_script_cannot_see_the_worker(handler: ScriptHandler) -> None:
    if handler._user is None and (os.geteuid() == 0 or landlock_version() < 6):
        pytest.skip("As root it can read the environment; without a new Landlock it can signal.")
    failed = await failure(handler, bash(f"cat /proc/{os.getpid()}/environ"))
    assert failed.kind == "exit_code"
    failed = await failure(handler, bash("kill -9 $PPID"))
    assert failed.kind == "exit_code"


async def test_the_order_is_not_on_the_command_line(handler: ScriptHandler) -> None:
    script = """tr '\\0' ' ' < /proc/$PPID/cmdline; echo "\\"x\\"" > "$GNOMON_RESULT" """
    assert await handler.run(bash(script, arguments={"password": "hunter2"}), an_attempt()) == "x"
