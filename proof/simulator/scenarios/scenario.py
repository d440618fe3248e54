"""What happens in a world, as a value: who is there, what is asked for, what goes wrong and when.

Nothing in it rolls dice, so a scenario can be written down, cut down and run again. `seed` is what is left to
chance while it runs: how long messages take, and what handlers do within their bounds.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from proof.simulator.scenarios.behaviour import Behaviour
from proof.simulator.scenarios.flows import FlowSpec

DATABASE = "db"  # What a fault hits that hits no node.


class Role(StrEnum):
    SCHEDULER = "scheduler"
    WORKER = "worker"
    CLIENT = "client"


class NodeSpec(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    role: Role
    latency: float = 0.002  # To the store, one way, on average, in seconds.
    skew: float = 0.0  # How wrong its wall clock is, in seconds.
    drift: float = 0.0  # How much faster than true time its monotonic clock runs: 1e-5 is a second a day.
    slots: int = 4
    queues: tuple[str, ...] = ("default",)
    drain: float = 25.0


class JobSpec(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job. Durations are seconds; `at` and `start` count from the beginning."""

    name: str
    cron: str | None = None
    timezone: str = "UTC"
    gap: str = "shift"
    fold: str = "first"
    every: float | None = None
    at: float | None = None
    delay: float | None = None
    jitter: float = 0.0
    max_runs: int | None = None
    closed: tuple[int, ...] = ()  # Days from the beginning that its calendar excludes.
    misfire: str = "FIRE_NOW"
    grace: float = 60.0
    catchup_limit: int = 100
    catchup_window: float | None = None
    overlap: str = "allow"
    max_concurrent: int | None = None
    after: tuple[str, ...] = ()  # Names of the jobs it depends on.
    max_attempts: int = 3
    crash_limit: int = 3
    backoff_base: float = 5.0
    timeout: float | None = None
    delivery: str = "at_least_once"
    priority: int = 5
    queue: str = "default"
    behaviour: Behaviour = Behaviour()

    @property
    def is_manual(self) -> bool:
        return self.cron is None and self.every is None and self.at is None and self.delay is None


class Verb(StrEnum):
    ENQUEUE = "enqueue"
    ENQUEUE_UNIQUE = "enqueue_unique"
    ENQUEUE_LATER = "enqueue_later"
    CANCEL_RUN = "cancel_run"
    PAUSE = "pause"
    RESUME = "resume"
    UPDATE = "update"
    CANCEL_JOB = "cancel_job"
    REDRIVE = "redrive"
    # Of workflows and their runs.
    TRIGGER = "trigger"
    STOP_RUN = "stop_run"
    HOLD_RUN = "hold_run"
    LET_GO = "let_go"
    MEND = "mend"
    DECIDE = "decide"
    SEND = "send"
    REDEFINE = "redefine"


class Act(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a client does. `number` tells acts apart, also after others were left out."""

    number: int
    at: float
    client: str
    verb: Verb
    job: str
    count: int = 1


class FaultKind(StrEnum):
    KILL = "kill"  # And restarted after `seconds`.
    DRAIN = "term"  # Leaves in peace, and is restarted `seconds` after it left.
    PAUSE = "pause"  # SIGSTOP, then SIGCONT.
    SUSPEND = "suspend"  # A laptop that is shut: its monotonic clock stands still, too.
    STALL = "stall"  # A handler keeps the loop busy; the heartbeat's thread goes on.
    CUT = "cut"
    REFUSED = "refused"
    LATE = "late"
    LOST_REPLY = "lost_reply"
    SLOW = "slow"
    SKEW = "skew"
    DOWN = "down"  # The database.
    RESTART = "restart"  # The database, with all that is being answered.
    DEAF = "deaf"  # Hints get lost.
    FREEZE = "freeze"  # The database stands still (SIGSTOP), and then answers all that it was asked.
    EXHAUSTED = "pool_exhausted"  # All connections of a process are taken; its heartbeat has one of its own.


class Fault(Struct, frozen=True, kw_only=True, omit_defaults=True):
    number: int
    kind: FaultKind
    at: float
    seconds: float
    target: str = DATABASE
    amount: float = 0.0  # A probability, a factor, or seconds of skew.


class Scenario(Struct, frozen=True, kw_only=True, omit_defaults=True):
    seed: int
    start: datetime
    seconds: float  # From the beginning to the final read.
    healed_at: float  # From here on, nothing goes wrong and nobody asks for anything.
    nodes: tuple[NodeSpec, ...]
    jobs: tuple[JobSpec, ...]
    profile: str = ""
    acts: tuple[Act, ...] = ()
    faults: tuple[Fault, ...] = ()
    flows: tuple[FlowSpec, ...] = ()
    lease: float = 20.0
    poll: float = 1.0
    crash_restarts_in: float = 3.0
    hints: bool = True
    expects: str | None = None  # In a fixture: what was found with it once, in words.

    @property
    def hours(self) -> float:
        return self.seconds / 3600


def write_scenario(scenario: Scenario, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(scenario), indent=1) + b"\n")


def read_scenario(path: Path) -> Scenario:
    return msgspec.json.decode(path.read_bytes(), type=Scenario)
