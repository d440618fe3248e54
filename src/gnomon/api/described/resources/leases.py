"""The worker protocol: how workers claim and finish executions."""

from __future__ import annotations

from datetime import timedelta

from gnomon.api.described.call import CallDescription, Calls
from gnomon.api.described.field import (
    NUMBER_MAX,
    Fields,
    flag,
    instant,
    json,
    name,
    number,
    parts,
    seconds,
    shape,
    text,
    uuid,
    whole,
    word,
)
from gnomon.api.described.resources import jobs
from gnomon.api.described.resources import recurring as often
from gnomon.api.described.resources.recurring import WORKER_ID
from gnomon.api.described.resources.workers import ABLE, KINDS, LEASE_SECONDS, NOW, OWN, QUEUES
from gnomon.api.forms.outcome_forms import OUTCOMES
from gnomon.api.resources.leases import BATCH_MAX, LINES_MAX, WAIT_SECONDS_MAX
from gnomon.client.remote.worker_protocol import (
    CANCEL,
    CheckpointForm,
    CheckpointOne,
    Claimed,
    ClaimForm,
    CompleteAnswer,
    Completed,
    CompleteForm,
    Completion,
    Held,
    KeptAnswer,
    Lease,
    LineOne,
    LogForm,
    RenewAnswer,
    Renewed,
    RenewForm,
    Token,
)
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.executions.records import LogLevel
from gnomon.core.jobs.retry import BACKOFF_MAX
from gnomon.core.values.limits import CHECKPOINT_BYTES_MAX, LOG_LINE_BYTES_MAX, RESULT_BYTES_MAX
from gnomon.errors import (
    LeaseLost,
    SchemaMismatch,
)
from gnomon.store.protocols.changes import Applied

_ZERO = timedelta(0)
_QUEUE = name("A queue.", "default")
_RIGHT = {"execution_id": often.EXECUTION_ID, "claim": often.CLAIM.but("The number of the claim.")}
_LOST = parts("Leases that are no longer held: stop working on them.", up_to=BATCH_MAX)

FIELDS: Fields = {
    ClaimForm: {
        "worker_id": WORKER_ID,
        "request_id": uuid("Names this ask: the same one again gets the same leases.", often.REQUEST),
        "kinds": KINDS.but("Only these kinds. Null: as registered."),
        "queues": QUEUES.but("Only these queues. Null: as registered."),
        "capabilities": ABLE.but("Only these capabilities. Null: as registered."),
        "limit": whole(
            "How many leases at most. The capacity of the worker bounds them, too.", 8, 1, BATCH_MAX
        ),
        "wait_seconds": number("How long to wait for the first one.", 10, 0, WAIT_SECONDS_MAX),
        "is_repeat": flag("This `request_id` was sent before, and no answer came.", False),
    },
    Held: _RIGHT,
    RenewForm: {"worker_id": WORKER_ID, "leases": parts("The leases to renew.", up_to=BATCH_MAX, low=1)},
    CompleteForm: {
        "worker_id": WORKER_ID,
        "completions": parts("How attempts ended.", up_to=BATCH_MAX, low=1),
    },
    Completion: {
        "outcome": word("How the attempt ended. It decides which other fields count.", "succeeded", OUTCOMES),
        "result": json(
            "Of `succeeded`: what the handler returned.", {"rows": 1204}, bytes_max=RESULT_BYTES_MAX
        ),
        "error_kind": text(
            "Of `failed`: what `retry_on` compares. Of `snoozed`: what lacks. Longer ones are cut.",
            "ConnectionError",
            up_to=None,
        ),
        "error_message": text(
            "Of `failed` and `snoozed`: for people. Longer ones are cut.", "no answer", up_to=None
        ),
        "permanent": flag("Of `failed`: no retry can help.", False),
        "retry_after_seconds": seconds(
            "Of `failed`: try again no sooner. Longer waits are cut.", 30, _ZERO, BACKOFF_MAX
        ),
        "wait_is_drawn": flag(
            "`retry_after_seconds` comes from the retry policy, with its chance in it.", False
        ),
        "delay_seconds": seconds(
            "Of `snoozed`: run again after so long, without charge.", 60, _ZERO, BACKOFF_MAX
        ),
        "has_started": flag("Of `snoozed` and `released`: the handler had begun.", True),
    },
    CheckpointForm: {"worker_id": WORKER_ID, "checkpoints": parts("States to keep.", up_to=BATCH_MAX, low=1)},
    CheckpointOne: {
        "state": json(
            "Where the next attempt shall start from.", {"page": 12}, bytes_max=CHECKPOINT_BYTES_MAX
        ),
        "progress": number("How far the work has come, from 0 to 1.", 0.4, 0, 1),
    },
    LogForm: {"worker_id": WORKER_ID, "lines": parts("Lines to keep.", up_to=LINES_MAX)},
    LineOne: {
        "number": whole(
            "Counts within the attempt: a line that is sent twice is one line.", 2, 1, NUMBER_MAX
        ),
        "message": text(f"What it says. Cut at {LOG_LINE_BYTES_MAX} bytes.", "1204 rows", up_to=None),
        "level": word("How grave it is, in any case. `WARN` is `WARNING`.", "INFO", LogLevel),
        "at": instant("When it was written. Null: now.", often.STARTED),
        "context": json("What to keep beside it.", {"rows": 1204}),
    },
    Token: _RIGHT,
    Lease: {
        **_RIGHT,
        "claim": often.CLAIM.but("The fencing token: hand it on to what you write to."),
        "tenant_id": often.TENANT_ID,
        "job_id": often.JOB_ID,
        "revision": often.REVISION.but("The revision of the job that it runs."),
        "attempt_number": often.ATTEMPT_NUMBER.but("Which attempt this is, from 1."),
        "attempts": often.ATTEMPTS.with_example(0),
        "crashes": whole("How many workers have died with it in a row.", 0, 0, NUMBER_MAX),
        "max_attempts": often.MAX_ATTEMPTS,
        "kind": often.KIND.but("The handler to run."),
        "payload": json("What the handler gets.", {"url": "https://example.com/report"}),
        "input": json("What this run gets in place of the payload, if `has_input`.", None),
        "has_input": flag("There is an input, be it null.", False),
        "checkpoint": json("Where to start from, if `has_checkpoint`.", None, bytes_max=CHECKPOINT_BYTES_MAX),
        "has_checkpoint": flag("There is a checkpoint, be it null.", False),
        "queue": _QUEUE.but("The queue that it waited in."),
        "capabilities": jobs.CAPABILITIES.but("What a worker needs to run it."),
        "priority": often.PRIORITY,
        "timeout_seconds": jobs.TIMEOUT.but("Stop it after so long. Null: never."),
        "max_concurrent": jobs.MAX_CONCURRENT,
        "delivery": jobs.DELIVERY,
        "retry_policy": shape("How often and how soon it is tried again.", "RetryPolicy"),
        "schedule": shape("The schedule of its job.", "Schedule"),
        "scheduled_time": instant(
            "The time that it is for: the nominal one, else when it was due.", often.NOMINAL
        ),
        "nominal_time": instant("The time that the schedule named. Null: it was asked for.", often.NOMINAL),
        "due": instant("When it was due.", often.NOMINAL),
        "started_at": instant("When this attempt started.", often.STARTED),
        "lease_until": instant("When the lease runs out.", often.ENDED),
        "cancel_requested": flag("It was asked to stop.", False),
        "is_task": flag("It is a task of a workflow.", False),
    },
    Claimed: {
        "leases": parts("What the worker has now.", up_to=BATCH_MAX),
        "lease_seconds": LEASE_SECONDS.but("How long a lease lasts. Renew each within a third of it."),
        "server_time": NOW,
    },
    Renewed: {
        "lease_until": instant("When the lease runs out.", often.ENDED),
        "command": word(
            "`cancel`: stop the handler, then complete with `cancelled`. Null: nothing.", CANCEL, [CANCEL]
        ),
    },
    RenewAnswer: {
        "renewed": parts("Leases that are held on.", up_to=BATCH_MAX),
        "lost": _LOST,
        "server_time": NOW,
    },
    Completed: {
        "answer": word(
            "`applied`: it counts. `replayed`: it was said before and counted once. `lost`: the "
            "lease was not held.",
            "applied",
            Applied,
        ),
        "replayed": flag("The same as `answer` being `replayed`.", False),
        "status": word("Where the execution is now, if this was applied.", "COMPLETED", ExecutionStatus),
    },
    CompleteAnswer: {"results": parts("What became of each completion, in order.", up_to=BATCH_MAX)},
    KeptAnswer: {"kept": parts("Claims whose data is kept.", up_to=LINES_MAX), "lost": _LOST},
}
_ONE = {"execution_id": often.EXECUTION, "claim": 1}
_WORKER = {"worker_id": "worker-a1"}
_HOLDS = (*OWN, LeaseLost)
CALLS: Calls = {
    "claim": CallDescription(
        "Claim executions",
        bodies={"Up to eight": {**_WORKER, "request_id": often.REQUEST, "limit": 8, "wait_seconds": 10}},
        refusals=(*OWN, SchemaMismatch),
    ),
    "renew": CallDescription(
        "Renew leases", bodies={"One lease": {**_WORKER, "leases": [_ONE]}}, refusals=_HOLDS
    ),
    "complete": CallDescription(
        "Complete executions",
        bodies={
            "One that succeeded": {
                **_WORKER,
                "completions": [{**_ONE, "outcome": "succeeded", "result": {"rows": 1204}}],
            },
            "One that failed": {
                **_WORKER,
                "completions": [
                    {**_ONE, "outcome": "failed", "error_kind": "http_503", "error_message": "no answer"}
                ],
            },
        },
        refusals=_HOLDS,
    ),
    "checkpoint": CallDescription(
        "Keep checkpoints",
        bodies={
            "One checkpoint": {**_WORKER, "checkpoints": [{**_ONE, "state": {"page": 12}, "progress": 0.4}]}
        },
        refusals=_HOLDS,
    ),
    "log": CallDescription(
        "Keep log lines",
        bodies={
            "One line": {**_WORKER, "lines": [{**_ONE, "number": 1, "message": "1204 rows", "level": "INFO"}]}
        },
        refusals=_HOLDS,
    ),
}
