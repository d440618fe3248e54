"""Runs one program for the script handler, and ends it with everything that it started.

A program of its own (python -I -S launch.py DESCRIPTOR) that imports nothing of ours, so that it starts fast.
It adopts every process whose parent goes away below it (PR_SET_CHILD_SUBREAPER): nothing gets out of its
sight, whatever sessions or groups it makes. It stays what the worker is, while the program becomes another
user, so the program cannot harm it. If the worker goes, its standard input ends, it kills the program and
removes its folder.

On standard input: a line of JSON, the order; then single letters, T to ask the program to end. The end of the
input means kill. When nothing of the program runs any more, DESCRIPTOR gets what became of it, as JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import struct
import sys
import time
from typing import Any, NoReturn

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_RULE_PATH_BENEATH = 1
LOOK_SECONDS = 0.05  # Between looks at how many processes there are.
LIMIT_LOOKED_AFTER_MIN = 32
KILL_SECONDS_MAX = 5.0
LIMITS = {
    "cpu_seconds": resource.RLIMIT_CPU,
    "memory_bytes": resource.RLIMIT_AS,
    "file_bytes": resource.RLIMIT_FSIZE,
    "open_files": resource.RLIMIT_NOFILE,
    "processes": resource.RLIMIT_NPROC,
    "core_bytes": resource.RLIMIT_CORE,
}

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    status_descriptor = int(sys.argv[1])
    os.set_inheritable(status_descriptor, False)
    wake = _wake_on_signals()
    line, _, early_words = _first_line().partition(b"\n")
    order = json.loads(line)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    crowd = Crowd(order)
    try:
        program = _started(order)
        if early_words:
            _send(program, signal.SIGTERM)
        status: dict[str, object] = dict(_attend(program, wake, crowd))
    except OSError as error:
        status = {"error": str(error)}
    left = _kill_everything(crowd)
    status["crowded"] = crowd.is_at_limit
    if "let_go" in status:  # The worker may be gone for good, and cannot clean up.
        from shutil import rmtree  # Rarely needed, and slow to import.

        rmtree(order["outer"], ignore_errors=True)
    os.write(status_descriptor, json.dumps(status | {"left": left}).encode())


# The program -------------------------------------------------------------------------------------------


def _started(order: dict[str, Any]) -> int:
    """The process id of the program. Raises OSError if it cannot be executed."""
    reader, writer = os.pipe()  # Closed by a successful exec; else it brings the reason.
    launcher = os.getpid()
    program = os.fork()
    if program == 0:
        try:
            _become(order, launcher, keep=writer)
        except BaseException as error:  # We are a copy of the launcher: nothing may get out of here.
            os.write(writer, str(error).encode()[:4000])
        finally:
            os._exit(127)
    os.close(writer)
    reason = os.read(reader, 4096)
    os.close(reader)
    if reason:
        raise OSError(reason.decode(errors="replace"))
    return program


def _become(order: dict[str, Any], launcher: int, *, keep: int) -> NoReturn:
    os.setsid()
    signal.set_wakeup_fd(-1)
    # Whatever the launcher handles, and whatever the worker was started with: a shell that puts a worker in
    # the background lets it ignore some.
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.closerange(3, keep)
    os.closerange(keep + 1, os.sysconf("SC_OPEN_MAX"))
    uid, gid = order["uid"], order["gid"]
    _limit(order["limits"], uid=os.getuid() if uid is None else uid)
    if uid is not None:
        os.setgroups([gid])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    if order["confinement"] is not None:
        _confine(**order["confinement"])
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != launcher:
        raise OSError("The launcher is gone.")
    os.umask(0o077)
    os.chdir(order["folder"])
    _execute(order["argv"], order["env"])


def _confine(
    handled: int, scoped: int, rules: list[tuple[str, int]], calls: list[tuple[int, int, int, int]]
) -> None:
    """Into a Landlock domain, for good. What the numbers mean, the worker knows: see confinement.py."""
    attributes = struct.pack("=QQQ", handled, 0, scoped)
    ruleset = _call(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    for path, allowed in rules:
        try:
            place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue  # It is gone, and allowing less is safe.
        _call(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, struct.pack("=Qi", allowed, place), 0)
        os.close(place)
    _call(LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    steps = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in calls))
    _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, struct.pack("@HP", len(calls), ctypes.addressof(steps)))


def _execute(argv: list[str], env: dict[str, str]) -> NoReturn:
    """Search and execute. Not by os.execvpe, which imports: the user we are now may not read our Python."""
    name = argv[0]
    folders = [""] if "/" in name else [f"{folder}/" for folder in env["PATH"].split(":") if folder]
    reason: str | None = "not found"
    for folder in folders:
        try:
            os.execve(folder + name, argv, env)  # noqa: S606 - that is what we are for.
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            reason = error.strerror
    raise OSError(f"{name!r} cannot be executed as user {os.getuid()}: {reason}.")


def _limit(limits: dict[str, int], *, uid: int) -> None:
    for name, value in limits.items():
        if name == "processes":  # The kernel counts all that the user runs, so leave that out of account.
            value += _tasks_of(uid)
        _, hard = resource.getrlimit(LIMITS[name])
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # The soft limit on time sends a signal that says why; the hard one kills.
        resource.setrlimit(
            LIMITS[name], (most, most + 1 if name == "cpu_seconds" and most == value else most)
        )


def _tasks_of(uid: int) -> int:
    count = 0
    for pid in _all_pids():
        try:
            with open(f"/proc/{pid}/status", "rb") as file:
                facts = dict(line.split(b":", 1) for line in file.read().splitlines() if b":" in line)
        except OSError:
            continue
        if int(facts[b"Uid"].split()[0]) == uid:
            count += int(facts[b"Threads"])
    return count


# Its end -----------------------------------------------------------------------------------------------


class Crowd:
    """Whether the program has had as many processes and threads as it may have.

    The kernel refuses a fork beyond the limit and tells nobody else. So they are counted: first those of the
    whole system, which is one read, and if these have become many, those of the program.
    """

    def __init__(self, order: dict[str, Any]) -> None:
        limit = order["limits"]["processes"]
        is_limited = (os.getuid() if order["uid"] is None else order["uid"]) != 0
        self._many = limit - limit // 32 if is_limited and limit >= LIMIT_LOOKED_AFTER_MIN else 1 << 30
        self._others = self._all()
        self.is_at_limit = False

    def look(self) -> None:
        now = self._all()
        self._others = min(self._others, now)
        if now - self._others >= self._many // 2:
            self.note(_descendants())

    def note(self, tasks: dict[int, int]) -> None:
        self.is_at_limit |= sum(tasks.values()) >= self._many

    def note_left(self, tasks: dict[int, int]) -> None:
        """What runs on although the program has ended. Half as many as it may have are no oversight."""
        self.is_at_limit |= sum(tasks.values()) >= self._many // 2

    def _all(self) -> int:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[3].partition(b"/")[2])


def _attend(program: int, wake: int, crowd: Crowd) -> dict[str, int]:
    """Wait for the end of the program, or for the word to end it. Adopted processes are buried on the way."""
    ended: dict[str, int] | None = None
    while ended is None:
        ready, _, _ = select.select([0, wake], [], [], LOOK_SECONDS)
        if not crowd.is_at_limit:
            crowd.look()
        if wake in ready:
            if set(os.read(wake, 4096)) - {signal.SIGCHLD}:
                return {"signal": signal.SIGKILL}  # Somebody wants the launcher itself to end.
            ended = _bury(program)
        if 0 in ready and ended is None:
            words = os.read(0, 4096)
            if not words:
                return {"let_go": 1}
            for pid in _descendants():
                _send(pid, signal.SIGTERM)
    return ended


def _bury(program: int) -> dict[str, int] | None:
    """Take the status of all that ended; that of the program is the answer."""
    ended = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        if pid == program:
            code = os.waitstatus_to_exitcode(status)
            ended = {"exit": code} if code >= 0 else {"signal": -code}


def _kill_everything(crowd: Crowd) -> int:
    """Freeze, then kill: what is frozen cannot fork. Returns how many could not be killed in time."""
    deadline = time.monotonic() + KILL_SECONDS_MAX
    while True:
        _bury(0)
        frozen: dict[int, int] = {}
        while new := {pid: tasks for pid, tasks in _descendants().items() if pid not in frozen}:
            for pid in new:
                _send(pid, signal.SIGSTOP)
            frozen |= new
        crowd.note_left(frozen)
        if not frozen or time.monotonic() > deadline:
            return len(frozen)
        for pid in frozen:
            _send(pid, signal.SIGKILL)
        time.sleep(0.001)


def _descendants() -> dict[int, int]:
    """All processes below this one, with the number of threads of each.

    Dead ones too: a program whose first thread ended looks like one.
    """
    children: dict[int, list[int]] = {}
    threads: dict[int, int] = {}
    for pid in _all_pids():
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                facts = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        children.setdefault(int(facts[1]), []).append(pid)
        threads[pid] = int(facts[17])
    found: dict[int, int] = {}
    todo = [os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        found.update((pid, threads[pid]) for pid in below)
        todo.extend(below)
    return found


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


# The launcher itself -----------------------------------------------------------------------------------


def _wake_on_signals() -> int:
    """A descriptor that brings the number of each signal that arrives."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    return reader


def _first_line() -> bytes:
    line = bytearray()
    while b"\n" not in line:
        part = os.read(0, 65536)
        if not part:
            raise SystemExit("The worker went away before it said what to run.")
        line += part
    return bytes(line)


def _call(number: int, *arguments: int | bytes) -> int:
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    answer: int = _libc.syscall(ctypes.c_long(number), *words)
    if answer < 0:
        raise OSError(ctypes.get_errno(), f"system call {number}: {os.strerror(ctypes.get_errno())}")
    return answer


def _prctl(option: int, value: int, more: int | bytes = 0) -> None:
    if _libc.prctl(option, value, more, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed")


if __name__ == "__main__":
    main()
