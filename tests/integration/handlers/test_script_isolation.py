"""A script that runs as the worker's own user is kept from the worker, by Landlock. Real attacks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gnomon.handlers.base import JobFailed
from gnomon.handlers.script.confinement import ENTRIES_MAX, landlock_version
from gnomon.handlers.script.handler import ScriptHandler
from gnomon.settings import HandlerSettings
from tests.attempts import a_payload, an_attempt
from tests.integration.handlers.scripts import bash, failure, logged

ROOT = Path(__file__).resolve().parents[3]
CANARY = "canary-7c1e"
SETTINGS = HandlerSettings(script_user="root" if os.geteuid() == 0 else None)

needs_landlock = pytest.mark.skipif(landlock_version() == 0, reason="This kernel has no Landlock.")
AS_NOBODY: Any = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}

# Each way that succeeds is told. {worker} is its process, {descriptor} is open there, {database} is its file.
ATTACK = r"""
said() {{ echo "$1" >> "$HOME/told"; }}
for name in environ mem maps auxv fd/{descriptor} cwd/. root/etc/passwd; do
    (: < /proc/{worker}/$name) 2> /dev/null && said $name
done
readlink /proc/{worker}/fd/{descriptor} > /dev/null && said "target of a descriptor"
head -c 1 /proc/$PPID/environ > /dev/null 2>&1 && said "environment of the launcher"
cat {database} > /dev/null 2>&1 && said database
cat {database}-wal > /dev/null 2>&1 && said wal
: 2> /dev/null >> {database} && said "writing the database"
ln {database} "$HOME/link" 2> /dev/null && said "a link"
mv {database} {database}2 2> /dev/null && said "a new name"
rm -f {database} 2> /dev/null; test -e {database} || said "removal"
python3 - <<'END'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(0x4206, {worker}, None, None) == 0:
    open(os.environ["HOME"] + "/told", "a").write("ptrace\n")
limits = (ctypes.c_ulong * 2)(1000, 1000)
if libc.prlimit({worker}, 8, limits, None) == 0:  # How much memory it may lock, which nothing here needs.
    open(os.environ["HOME"] + "/told", "a").write("limits\n")
assert libc.prlimit(0, 8, limits, None) == 0
END
printf '[%s]' "$(sed 's/.*/"&"/' "$HOME/told" 2> /dev/null | paste -sd,)" > "$GNOMON_RESULT"
"""

WORKER = """
import asyncio, json, os, sys
from gnomon.handlers.script.handler import ScriptHandler
from gnomon.settings import HandlerSettings
from tests.attempts import a_payload, an_attempt
folder, isolation, attack = sys.argv[1:]
database = folder + "/gnomon.db"
for suffix in ("", "-wal"):
    with open(database + suffix, "w") as file:
        file.write("canary-7c1e")
descriptor = os.open(database, os.O_RDONLY)
handler = ScriptHandler(HandlerSettings(script_hidden=(database,), script_isolation=isolation == "on"))
payload = a_payload({"interpreter": "bash", "script": attack.format(
    worker=os.getpid(), descriptor=descriptor, database=database)})
print(os.getuid(), json.dumps(asyncio.run(handler.run(payload, an_attempt()))))
"""


# Not the user of other tests: the kernel counts all processes of a user against the limit.
ALONE = "daemon" if os.geteuid() == 0 else None
FORKING = """
import os, time
end = time.monotonic() + 1
while time.monotonic() < end:
    try:
        os.fork()
    except OSError:
        pass
"""


@pytest.fixture
def database(open_folder: Path) -> Path:
    path = open_folder / "gnomon.db"
    path.write_text(CANARY)
    Path(f"{path}-wal").write_text(CANARY)
    return path


@pytest.fixture
async def handler(database: Path) -> AsyncIterator[ScriptHandler]:
    handler = ScriptHandler(replace(SETTINGS, script_hidden=(str(database),)))
    assert handler._user is None
    yield handler
    await handler.aclose()


@needs_landlock
@pytest.mark.parametrize("isolation", ["on", "off"])
def test_a_worker_that_is_not_root_is_safe_from_its_scripts(open_folder: Path, isolation: str) -> None:
    packages = os.pathsep.join([str(ROOT / "src"), str(ROOT), *(path for path in sys.path if path)])
    python = _python_for_nobody(packages)
    worker = subprocess.run(
        [python, "-c", WORKER, str(open_folder), isolation, ATTACK],
        cwd="/",
        **AS_NOBODY,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": packages, "GNOMON_DATABASE": CANARY},
        capture_output=True,
        text=True,
        check=True,
    )
    uid, _, told = worker.stdout.partition(" ")
    assert int(uid) != 0
    if isolation == "on":
        assert json.loads(told) == []
    else:  # The attack is a real one.
        found = {"environ", "mem", "ptrace", "limits", "target of a descriptor", "database"}
        assert found <= set(json.loads(told))


def _python_for_nobody(packages: str) -> str:
    """The interpreter of the tests, or their packages, may be in a folder that is for its owner only."""
    alike = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, shutil.which(alike, path="/usr/bin:/usr/local/bin:/bin")):
        if python is None:
            continue
        probe = [python, "-c", "import gnomon, msgspec"]
        try:
            subprocess.run(probe, cwd="/", env={"PYTHONPATH": packages}, check=True, **AS_NOBODY)
        except (OSError, subprocess.CalledProcessError):
            continue
        return python
    pytest.skip("No Python here that the user nobody can run.")


@needs_landlock
async def test_what_is_not_hidden_works_as_ever(handler: ScriptHandler, open_folder: Path) -> None:
    beside, below = open_folder / "beside", open_folder / "below"
    beside.write_text("kept\n")
    below.mkdir(mode=0o777)
    script = f"""
    set -e
    cat {beside}; echo more >> {beside}; ls {open_folder} > /dev/null
    mkdir {below}/new; echo x > {below}/new/x; mv {below}/new/x {below}/x; ln {below}/x {below}/y
    ps ax > /dev/null || true; echo y > /dev/null; echo z > /dev/stderr
    mkdir a; echo t > t; mv t a; cat a/t; rm -r a
    """
    with logged() as lines:
        await handler.run(bash(script), an_attempt())
    assert lines == ["kept", "z", "t"] or sorted(lines) == ["kept", "t", "z"]
    assert (below / "y").read_text() == "x\n"


@needs_landlock
async def test_nothing_new_is_made_beside_a_hidden_file(handler: ScriptHandler, open_folder: Path) -> None:
    """Rules only allow: a folder in which all but one file may be touched cannot be written."""
    failed = await failure(handler, bash(f"echo x > {open_folder}/new"))
    assert failed.kind == "exit_code"


@needs_landlock
async def test_without_hidden_files_every_folder_is_as_it_was(open_folder: Path) -> None:
    handler = ScriptHandler(replace(SETTINGS, script_hidden=(str(open_folder / "none.db"),)))
    await handler.run(bash(f"echo x > {open_folder}/new; mkdir {open_folder}/made"), an_attempt())
    await handler.aclose()
    assert (open_folder / "new").exists()


@needs_landlock
async def test_a_script_cannot_signal_its_worker(handler: ScriptHandler) -> None:
    if landlock_version() < 6:
        pytest.skip("Landlock keeps signals inside since version 6 (Linux 6.12).")
    for target in (str(os.getpid()), "$PPID"):
        assert (await failure(handler, bash(f"kill -0 {target}"))).kind == "exit_code"
    await handler.run(bash("sleep 100 & kill -9 $!"), an_attempt())


async def test_where_the_kernel_has_no_landlock_scripts_are_refused(
    open_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    handler = ScriptHandler(SETTINGS, landlock=0)
    assert "Jobs of the kind script are refused here" in caplog.text
    with pytest.raises(JobFailed, match=r"script\.isolation") as failed:
        await handler.run(bash(f"touch {open_folder}/ran"), an_attempt())
    assert (failed.value.kind, failed.value.permanent) == ("not_isolated", True)
    assert not (open_folder / "ran").exists()

    trusting = ScriptHandler(replace(SETTINGS, script_isolation=False), landlock=0)
    await trusting.run(bash(f"touch {open_folder}/ran"), an_attempt())
    await trusting.aclose()
    assert (open_folder / "ran").exists()


@needs_landlock
async def test_a_database_in_a_crowded_folder_is_told(handler: ScriptHandler, open_folder: Path) -> None:
    for number in range(ENTRIES_MAX):
        os.mknod(open_folder / str(number))
    failed = await failure(handler, bash("exit 0"))
    assert failed.kind == "not_isolated"
    assert "a folder of its own" in str(failed)


@pytest.mark.skipif(os.geteuid() != 0, reason="Its processes are counted with those of the tests.")
@pytest.mark.parametrize(
    ("interpreter", "script"),
    [
        ("bash", "bomb() { bomb | bomb & }; bomb; sleep 2; exit 0"),
        ("sh", "for one in $(seq 600); do sleep 100 & done; exit 0"),
        ("python3", FORKING),
    ],
    ids=["bomb", "many", "caught"],
)
async def test_a_fork_bomb_that_hit_its_limit_has_failed(
    open_folder: Path, interpreter: str, script: str
) -> None:
    place = open_folder / "scripts"
    place.mkdir(mode=0o755)
    handler = ScriptHandler(HandlerSettings(script_folder=place, script_user=ALONE, script_processes=200))
    failed = await failure(handler, a_payload({"interpreter": interpreter, "script": script}))
    await handler.aclose()
    assert failed.kind == "limit"
    assert "processes" in str(failed)


async def test_many_processes_within_the_limit_are_fine(open_folder: Path) -> None:
    place = open_folder / "scripts"
    place.mkdir(mode=0o755)
    handler = ScriptHandler(HandlerSettings(script_folder=place, script_user=ALONE, script_processes=400))
    script = "for one in $(seq 150); do sleep 0.3 & done; wait"
    assert await handler.run(bash(script), an_attempt()) == {"exit_code": 0}
    await handler.aclose()
