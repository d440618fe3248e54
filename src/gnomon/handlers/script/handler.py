"""The kind `script`: runs a program outside the worker, held by limits, gone when its time is over."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from gnomon.core.values.document import JSON
from gnomon.errors import InvalidInput
from gnomon.handlers.base import Context, JobFailed
from gnomon.handlers.lines import Budget, keep_lines
from gnomon.handlers.payload import bad_payload, merged, read, read_to_run
from gnomon.handlers.script import launch
from gnomon.handlers.script.confinement import (
    Confinement,
    TooManyEntries,
    confinement,
    landlock_version,
)
from gnomon.handlers.script.folder import Folder
from gnomon.handlers.script.payload import ScriptPayload, environment
from gnomon.handlers.script.remains import remove_abandoned
from gnomon.handlers.script.user import script_user
from gnomon.settings import HandlerSettings

LAUNCHER = Path(launch.__file__)
LAUNCHER_END = timedelta(seconds=launch.KILL_SECONDS_MAX + 5)
STATUS_BYTES_MAX = 8192
NOT_CONFINED = (
    "this worker runs scripts as its own user, and its kernel has no Landlock (Linux 5.13 and newer, not in "
    "every container), so they could read its memory, its environment and its database. Run the worker as "
    "root, which runs scripts as nobody; or, if you trust all scripts, set script.isolation to off."
)
LIMIT_SIGNALS = {signal.SIGXCPU: "time on the processor", signal.SIGXFSZ: "size of a file"}


class ScriptHandler:
    kind = "script"

    def __init__(self, settings: HandlerSettings, *, landlock: int | None = None) -> None:
        """Raises InvalidInput if scripts cannot run as the user that the settings name.

        `landlock` is its version, if it is not to be that of this kernel.
        """
        self._settings = settings
        self._user = script_user(settings.script_user)
        self._landlock = landlock_version() if landlock is None else landlock
        if self._needs_confinement and not self._landlock:
            _own_log.warning("Jobs of the kind script are refused here: %s", NOT_CONFINED)
        self._ending: set[asyncio.Task[None]] = set()

    def check(self, payload: JSON) -> None:
        read(payload, ScriptPayload).check()

    async def run(self, payload: JSON, context: Context) -> JSON:
        asked = read_to_run(payload, ScriptPayload)
        try:
            asked.check()
        except InvalidInput as error:
            raise bad_payload(error) from error
        given: dict[str, JSON] = merged(asked.arguments, context.input)
        self._check_isolation()
        folder = Folder.made(self._settings.script_folder, user=self._user, given=given, script=asked.script)
        program: ScriptProgram | None = None
        try:
            confined = await asyncio.to_thread(self._confinement, folder)
            program = await ScriptProgram.started(self._order(asked, given, context, folder, confined))
            status = await program.end()
            return _result(status, folder)
        except asyncio.CancelledError:
            if program is not None:
                await program.ask_to_end(self._settings.script_grace)
            raise
        finally:
            await self._clean_up(program, folder)

    async def tidy(self) -> None:
        """Remove the folders of scripts whose worker was killed."""
        parent = self._settings.script_folder or Path(gettempdir())
        count = await asyncio.to_thread(remove_abandoned, parent, is_of_script=self._user is None)
        if count:
            _own_log.info("Removed %d folders of scripts whose worker is gone.", count)

    async def aclose(self) -> None:
        """Wait for what is still being cleaned up."""
        if self._ending:
            await asyncio.wait(self._ending)

    @property
    def _needs_confinement(self) -> bool:
        """Another user than the worker cannot look at it anyway."""
        return self._user is None and self._settings.script_isolation

    def _check_isolation(self) -> None:
        if self._needs_confinement and not self._landlock:
            raise JobFailed(f"The script is not started: {NOT_CONFINED}", kind="not_isolated", permanent=True)

    def _confinement(self, folder: Folder) -> Confinement | None:
        if not self._needs_confinement:
            return None
        try:
            return confinement(self._landlock, hidden=self._settings.script_hidden, own=str(folder.outer))
        except TooManyEntries as error:
            raise JobFailed(str(error), kind="not_isolated", permanent=True) from None

    def _order(
        self,
        asked: ScriptPayload,
        given: dict[str, JSON],
        context: Context,
        folder: Folder,
        confined: Confinement | None,
    ) -> dict[str, Any]:
        settings = self._settings
        return {
            "argv": asked.command(folder),
            "env": environment(
                asked, given, context=context, folder=folder, kept=settings.script_environment
            ),
            "folder": str(folder.work),
            "outer": str(folder.outer),
            "uid": None if self._user is None else self._user.uid,
            "gid": None if self._user is None else self._user.gid,
            "confinement": confined,
            "limits": {
                "cpu_seconds": max(1, round(settings.script_cpu.total_seconds())),
                "memory_bytes": settings.script_memory_bytes,
                "file_bytes": settings.script_file_bytes,
                "open_files": settings.script_open_files,
                "processes": settings.script_processes,
                "core_bytes": 0,
            },
        }

    async def _clean_up(self, program: ScriptProgram | None, folder: Folder) -> None:
        """Done to its end, also if somebody loses patience with us."""
        if program is not None:
            program.let_go()
        task = asyncio.create_task(_ended(program, folder))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        await asyncio.shield(task)


class ScriptProgram:
    """A launcher that runs, seen from the worker."""

    def __init__(self, process: asyncio.subprocess.Process, status: int) -> None:
        assert process.stdin is not None
        self._process = process
        self._orders = process.stdin
        self._status = status
        budget = Budget()
        self._output = [
            asyncio.create_task(keep_lines(pipe, level=level, log=_log, budget=budget))
            for pipe, level in ((process.stdout, logging.INFO), (process.stderr, logging.WARNING))
            if pipe is not None
        ]

    @classmethod
    async def started(cls, order: dict[str, Any]) -> ScriptProgram:
        reader, writer = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", str(LAUNCHER), str(writer)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=(writer,),
                start_new_session=True,
                cwd="/",
                # Where Python itself was built to need it. The program gets what the order says, and no more.
                env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
            )
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        program = cls(process, reader)
        program._orders.write(json.dumps(order).encode() + b"\n")
        return program

    async def end(self) -> dict[str, Any]:
        """What became of the program, once nothing of it runs and all it wrote is logged."""
        await self._process.wait()
        await asyncio.wait(self._output, timeout=LAUNCHER_END.total_seconds())
        text = os.read(self._status, STATUS_BYTES_MAX)
        if not text:
            return {"launcher": self._process.returncode}
        status: dict[str, Any] = json.loads(text)
        if status["left"]:
            _log.error("%d processes of the script could not be killed.", status["left"])
        return status

    async def ask_to_end(self, grace: timedelta) -> None:
        """Returns when it has ended, or when the time is over."""
        self._orders.write(b"T")
        with suppress(TimeoutError):
            async with asyncio.timeout(grace.total_seconds()):
                await self._process.wait()

    def let_go(self) -> None:
        """The launcher kills what is left when nobody holds this end any more. Safe to call twice."""
        self._orders.close()

    async def gone(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LAUNCHER_END.total_seconds()):
                await self._process.wait()
        if self._process.returncode is None:
            self._process.kill()
        for task in self._output:
            task.cancel()
        await asyncio.wait(self._output)
        os.close(self._status)


async def _ended(program: ScriptProgram | None, folder: Folder) -> None:
    if program is not None:
        await program.gone()
    await asyncio.to_thread(folder.remove)


def _result(status: dict[str, Any], folder: Folder) -> JSON:
    match status:
        case {"crowded": True}:
            raise JobFailed("The script is over its limit: number of processes and threads.", kind="limit")
        case {"exit": 0}:
            return folder.read_result()
        case {"exit": int(code)}:
            raise JobFailed(f"The script ended with exit code {code}.", kind="exit_code")
        case {"signal": int(number)} if number in LIMIT_SIGNALS:
            raise JobFailed(
                f"The script is over its limit: {LIMIT_SIGNALS[signal.Signals(number)]}.", kind="limit"
            )
        case {"signal": int(number)}:
            raise JobFailed(f"The script was ended by {_signal_name(number)}.", kind="signal")
        case {"error": reason}:
            raise JobFailed(f"The script could not be started: {reason}", kind="not_started")
        case _:
            raise JobFailed(f"The script was lost with its launcher: {status}.", kind="crashed")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


_log = logging.getLogger("gnomon.job")
_own_log = logging.getLogger(__name__)
