"""The vocabulary of a history: one value for each thing that can be written down, and its line of JSON.

Three kinds of writers. A *store event* is written by the transaction that makes it true and has `db`, the
time of the database. A *process event* and a *sink event* have `wall`: true time, not the clock of a process
that a fault may have moved. Who writes which event, and when, is in `docs/reference/proof.md`.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

from msgspec import Meta, Struct

Instant = Annotated[datetime, Meta(tz=True)]


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="event", tag="event"):
    """What all events have. `n` counts the events of one source; each boot of a process is a source.

    `committed` is when others could see what the store wrote, where it says so; `db` is when it was written.
    """

    src: str
    n: int
    wall: Instant | None = None
    mono: float | None = None
    db: Instant | None = None
    committed: Instant | None = None
    tenant: str | None = None

    @property
    def when(self) -> datetime | None:
        """The time of the database for what the store wrote, true time for all others."""
        return self.db or self.wall

    @property
    def seen(self) -> datetime | None:
        """From when others must go by it: what is under way until then may be earlier or later."""
        return self.committed or self.when


class OfRun(Event, frozen=True, kw_only=True):
    """A change of the row of a run. `v` is its version: 1 at its birth, and one more with each change."""

    run: str
    v: int = 1


# Clients ------------------------------------------------------------------------------------------


class Submit(Event, frozen=True, kw_only=True):
    """A client's call. `body` is a hash of what was asked for."""

    key: str
    job: str | None = None
    run: str | None = None
    body: str | None = None


class SubmitInvoke(Submit, frozen=True, kw_only=True, tag="submit.invoke"):
    pass


class SubmitOk(Submit, frozen=True, kw_only=True, tag="submit.ok"):
    pass


class SubmitFail(Submit, frozen=True, kw_only=True, tag="submit.fail"):
    """Refused: it must not have happened."""


class SubmitInfo(Submit, frozen=True, kw_only=True, tag="submit.info"):
    """Timed out or cut off: it may have happened."""


class Look(Event, frozen=True, kw_only=True, tag="look"):
    """A client asked for a run, through any process of the API."""

    run: str
    found: bool
    via: str | None = None


# Schedules ----------------------------------------------------------------------------------------


class SchedSet(Event, frozen=True, kw_only=True, tag="sched.set"):
    """A revision or a new state of a job was committed. It holds for the due times after `since`.

    Durations are seconds. One of `cron`, `every` and `at` is set, or none for a job that runs when asked.
    """

    job: str
    rev: int
    since: Instant | None = None  # The instant it was decided for; without it, `db`.
    state: str = "ACTIVE"
    cron: str | None = None
    tz: str = "UTC"
    tzdata: str | None = None
    seed: str = ""  # What `H` is spread by.
    gap: str = "shift"
    fold: str = "first"
    every: float | None = None
    anchor: Instant | None = None
    at: Instant | None = None
    start_at: Instant | None = None
    end_at: Instant | None = None
    max_runs: int | None = None
    jitter: float = 0.0
    closed: tuple[date, ...] = ()  # The dates of its calendar.
    misfire: str = "FIRE_NOW"
    grace: float = 60.0
    catchup_limit: int = 100
    catchup_window: float | None = None
    overlap: str = "allow"
    max_concurrent: int | None = None
    depends: bool = False
    queue: str = "default"
    kind: str = ""
    priority: int = 5
    timeout: float | None = None
    delivery: str = "at_least_once"
    max_attempts: int = 3
    backoff: str = "exponential"
    backoff_base: float = 60.0
    backoff_multiplier: float = 2.0
    backoff_max: float = 3600.0
    backoff_jitter: float = 0.1
    retry_on: tuple[str, ...] | None = None
    crash_limit: int | None = None  # None: as `expect` says of all.

    @property
    def is_gated(self) -> bool:
        """Whether its runs may have to wait for more than their time and a worker."""
        return self.depends or self.overlap == "queue" or self.max_concurrent is not None


class Fire(OfRun, frozen=True, kw_only=True, tag="fire"):
    """A run was made for a due time. `late`: seconds from the due time to the decision."""

    job: str
    rev: int
    due: Instant
    run_at: Instant | None = None  # Due time plus jitter; without it, the due time.
    term: int | None = None
    late: float = 0.0
    priority: int | None = None


class Skip(Event, frozen=True, kw_only=True, tag="skip"):
    """`count` due times from `due` to `until` deliberately not fired. `late` is that of the first.

    `anchor`: an interval counts anew from there.
    """

    job: str
    due: Instant
    why: str
    until: Instant | None = None
    count: int = 1
    late: float = 0.0
    rev: int | None = None
    anchor: Instant | None = None

    @property
    def last(self) -> datetime:
        return self.until or self.due


# Leaders ------------------------------------------------------------------------------------------


class Elect(Event, frozen=True, kw_only=True, tag="elect"):
    """A lease on leadership changed its owner, or was renewed under the same term. `scope` names it."""

    who: str
    term: int
    expires: Instant
    scope: str = "leader"


class Act(Event, frozen=True, kw_only=True, tag="act"):
    """A write that only the leader may make was accepted."""

    who: str
    term: int
    kind: str = ""
    scope: str = "leader"


class Lead(Event, frozen=True, kw_only=True, tag="lead"):
    """A process believes that it leads, until its monotonic clock shows `until`."""

    term: int
    until: float
    scope: str = "leader"


class ElectInfo(Event, frozen=True, kw_only=True, tag="elect.info"):
    """A process asked to lead and got an error or no answer."""

    scope: str = "leader"


class ActBegin(Event, frozen=True, kw_only=True, tag="act.begin"):
    """A process begins something that only the leader may do."""

    term: int
    scope: str = "leader"


# Runs: what the store wrote -----------------------------------------------------------------------


class Enqueue(OfRun, frozen=True, kw_only=True, tag="enqueue"):
    """A run was made because somebody asked."""

    job: str
    rev: int
    key: str | None = None
    run_at: Instant | None = None
    priority: int | None = None
    rerun_of: str | None = None


class DagRelease(OfRun, frozen=True, kw_only=True, tag="dag.release"):
    """A task of a workflow may run: this is its run, or one of them in a fan-out. `dag` is the run it is in.

    `job` and `rev` are what it does: for a run of another workflow, that one and its revision.
    """

    job: str
    dag: str
    node: str
    rev: int = 1
    round: int = 1
    item: int | None = None
    tx: int | None = None
    run_at: Instant | None = None
    priority: int | None = None


class DagStart(OfRun, frozen=True, kw_only=True, tag="dag.start"):
    """The turn of a run of a workflow has come: its tasks exist, and wait. `rev` is what it is pinned to."""

    job: str
    rev: int
    tx: int | None = None


class DagEnd(OfRun, frozen=True, kw_only=True, tag="dag.end"):
    state: str
    tx: int | None = None


class DagAgain(OfRun, frozen=True, kw_only=True, tag="dag.again"):
    """A run of a workflow that had ended goes on: somebody mends it."""

    tx: int | None = None


class Claim(OfRun, frozen=True, kw_only=True, tag="claim"):
    """A run was handed out."""

    attempt: int
    token: int
    worker: str
    lease_until: Instant
    boot: int = 1
    req: str | None = None

    @property
    def holder(self) -> str:
        """The source of the process that holds it."""
        return source_of(self.worker, self.boot)


class Beat(OfRun, frozen=True, kw_only=True, tag="beat"):
    token: int
    lease_until: Instant


class CancelOk(OfRun, frozen=True, kw_only=True, tag="cancel.ok"):
    """Somebody asked a running run to stop. A waiting one is `cancelled` at once."""


class Change(OfRun, frozen=True, kw_only=True):
    """What became of an attempt. `at` is when it was decided, `kind` the kind of its error."""

    token: int | None = None
    next_at: Instant | None = None
    at: Instant | None = None
    why: str | None = None
    kind: str | None = None
    tx: int | None = None  # Of what is in a workflow: the transaction that wrote it.


class Done(Change, frozen=True, kw_only=True, tag="done"):
    pass


class Failed(Change, frozen=True, kw_only=True, tag="failed"):
    """The attempt failed, and there will be another at `next_at`. `wish`: seconds the receiver asked for."""

    permanent: bool = False
    wish: float | None = None


class Cancelled(Change, frozen=True, kw_only=True, tag="cancelled"):
    pass


class Expired(Change, frozen=True, kw_only=True, tag="expired"):
    """Taken back from a worker that stopped renewing; charged."""


class Released(Change, frozen=True, kw_only=True, tag="released"):
    """Given back by its worker; not charged."""


class Dead(Change, frozen=True, kw_only=True, tag="dead"):
    pass


class Abandoned(Change, frozen=True, kw_only=True, tag="abandoned"):
    """It runs at most once, it had started, and nobody knows how far it came."""


Ending = Done | Cancelled | Dead | Abandoned | DagEnd


class Deleted(Event, frozen=True, kw_only=True, tag="deleted"):
    """Somebody who may removed a run, or retention did."""

    run: str
    who: str | None = None


class Refused(Event, frozen=True, kw_only=True, tag="refused"):
    """A write of a running run that the fence turned away."""

    run: str
    token: int
    op: str = ""
    holder_token: int | None = None


class BeatRefused(Event, frozen=True, kw_only=True, tag="beat.refused"):
    run: str
    token: int
    v: int | None = None


# Runs: what a process or the sink saw ---------------------------------------------------------------


class Start(Event, frozen=True, kw_only=True, tag="start"):
    """`inputs`: by task of its workflow, whose results it was given: `run/token`, or an inner run."""

    run: str
    attempt: int
    token: int
    inputs: dict[str, tuple[str, ...]] | None = None


class Exit(Event, frozen=True, kw_only=True, tag="exit"):
    run: str
    attempt: int
    token: int
    rc: int = 0


class Told(Event, frozen=True, kw_only=True, tag="told"):
    """A running attempt was asked to stop."""

    run: str
    token: int


class Effect(Event, frozen=True, kw_only=True, tag="effect"):
    """The work was done: with `v`, by the transaction that made this version; else, by the sink."""

    run: str
    token: int
    attempt: int = 1
    nonce: str | None = None
    v: int | None = None


# Processes ----------------------------------------------------------------------------------------


class Up(Event, frozen=True, kw_only=True, tag="up"):
    """A process began to work. A worker takes `slots` runs at once, from `queues`; none named means all."""

    role: str
    slots: int = 0
    queues: tuple[str, ...] = ()


class Down(Event, frozen=True, kw_only=True, tag="down"):
    """A process ended by itself."""

    rc: int = 0


class Alive(Event, frozen=True, kw_only=True, tag="alive"):
    """The store answered a process that had nothing to do."""


class Again(Event, frozen=True, kw_only=True, tag="again"):
    """A request was repeated, because no answer had come, and was answered as the first one."""

    op: str
    req: str | None = None


# Workflows ----------------------------------------------------------------------------------------


class DagNew(Event, frozen=True, kw_only=True, tag="dag.new"):
    """A revision of a workflow was accepted. A `dag.edge` for each of its tasks says the rest."""

    job: str
    rev: int
    strategy: str = "FAIL_DOWNSTREAM"
    partial: bool = False


class DagEdge(Event, frozen=True, kw_only=True, tag="dag.edge"):
    """A task, and what it waits for. `does`: `run`, `fan_out`, `dag`, `approval` or `event`."""

    job: str
    rev: int
    node: str
    parents: tuple[str, ...] = ()
    rule: str = "all_success"
    does: str = "run"
    conditional: bool = False


class OfDag(Event, frozen=True, kw_only=True):
    """Something that happened in a run of a workflow, which is `dag`, in the transaction `tx`."""

    dag: str
    tx: int | None = None


class DagNode(OfDag, frozen=True, kw_only=True, tag="dag.node"):
    """A task of a run has another state. `round`: how often it has begun."""

    node: str
    state: str
    round: int = 0


class DagAct(OfDag, frozen=True, kw_only=True, tag="dag.act"):
    """What somebody did to a run, or to a task of it, was accepted."""

    act: str
    node: str | None = None


# Limits: written down now, judged later -------------------------------------------------------------


class LimitSet(Event, frozen=True, kw_only=True, tag="limit.set"):
    max: int
    queue: str | None = None


# The campaign -------------------------------------------------------------------------------------


class FaultBegin(Event, frozen=True, kw_only=True, tag="fault.begin"):
    """`target`: a process (`w1`, or one boot of it, `w1/2`), `db`, or `*` for everything."""

    kind: str
    target: str
    fault: str | None = None
    op: str | None = None


class FaultEnd(Event, frozen=True, kw_only=True, tag="fault.end"):
    kind: str
    target: str
    fault: str | None = None


class Heal(Event, frozen=True, kw_only=True, tag="heal"):
    """All faults have ended."""


class Expect(Event, frozen=True, kw_only=True, tag="expect"):
    """What the campaign knows: of all, or of one job. Durations are seconds."""

    job: str | None = None
    tolerance: float | None = None
    run_max: float | None = None
    effect: str | None = None  # `store`, `sink`, or `fenced` for a sink that looks at the token.
    lease: float | None = None
    reaper: float | None = None
    recovery: float | None = None
    grace: float | None = None
    crashes: int | None = None


class Kept(Event, frozen=True, kw_only=True, tag="kept"):
    """A run that the final read found."""

    run: str
    key: str | None = None
    job: str | None = None
    state: str | None = None


class Read(Event, frozen=True, kw_only=True, tag="read"):
    """The final read is over. `kept`: how many runs it found."""

    kept: int | None = None


Submitted = SubmitInvoke | SubmitOk | SubmitFail | SubmitInfo
Birth = Fire | Enqueue | DagRelease
StoreRun = (
    Birth | Claim | Beat | CancelOk | Done | Failed | Cancelled | Expired | Released | Dead | Abandoned
    | DagStart | DagEnd | DagAgain
)  # fmt: skip
AnyEvent = (
    Submitted | Look | SchedSet | Skip | Elect | Act | Lead | ElectInfo | ActBegin | StoreRun | Deleted
    | Refused | BeatRefused | Start | Exit | Told | Effect | Up | Down | Alive | Again
    | DagNew | DagEdge | DagNode | DagAct | LimitSet | FaultBegin | FaultEnd | Heal | Expect | Kept | Read
)  # fmt: skip


def name_of(event: Event) -> str:
    """The word for an event, such as `submit.ok`."""
    tag = event.__struct_config__.tag
    assert isinstance(tag, str)
    return tag


def source_of(name: str, boot: int) -> str:
    """The source of one boot of a process."""
    return f"{name}/{boot}"
