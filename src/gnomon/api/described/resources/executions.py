"""Executions, their attempts and logs, and dead letters."""

from __future__ import annotations

from gnomon.api.described.call import CallDescription, Calls
from gnomon.api.described.field import (
    NUMBER_MAX,
    Fields,
    flag,
    instant,
    json,
    many,
    name,
    number,
    part,
    parts,
    text,
    uuid,
    whole,
    word,
)
from gnomon.api.described.resources import recurring as often
from gnomon.api.forms.execution_answers import (
    AttemptAnswer,
    ExecutionAnswer,
    ExecutionPage,
    RedrivenAnswer,
    RunAgain,
    Trouble,
)
from gnomon.api.resources.dead_letters import (
    DeadLetterAnswer,
    DeadLetterPage,
    Purged,
    Redriven,
    Refused,
    Which,
    WhichToRedrive,
)
from gnomon.api.resources.executions import Attempts, Line, Lines, Stopped
from gnomon.client.executions.dead_letters import REDRIVE_MAX
from gnomon.core.executions.execution import AttemptOutcome, ExecutionStatus, Trigger, WaitsFor
from gnomon.core.executions.lifecycle import DeadReason
from gnomon.core.executions.records import AtRevision, LogLevel
from gnomon.core.values.limits import LOG_LINE_BYTES_MAX, PAGE_LIMIT_MAX
from gnomon.errors import DeadLetterNotFound, IllegalTransition, JobNotFound

_POSITION = r"^[0-9]{1,9}\.[0-9]{1,9}$"
_AFTER = text(
    "The `position` of a line: only lines after it. With `next_after`, what came since.",
    "1.2",
    pattern=_POSITION,
)
_WORKER = name("The worker that has it or had it last. Null: none yet.", "worker-a1")
_LETTER_ID = often.EXECUTION_ID.but("The id of the execution that died.")
_LETTERS = many("Which dead letters, by id.", _LETTER_ID, up_to=REDRIVE_MAX)
_AT = word(
    "Which revision of the job runs: the newest, or the one that the execution had. A task of a "
    "workflow always runs "
    "the one of its run.",
    "newest",
    AtRevision,
)
_OF_JOB = often.JOB_ID.but("Only those of this job.")

FIELDS: Fields = {
    Trouble: {"kind": often.FAILURE_KIND, "message": often.FAILURE_MESSAGE},
    ExecutionAnswer: {
        "execution_id": often.EXECUTION_ID,
        "run_id": often.RUN_ID,
        "job_id": often.JOB_ID,
        "job_name": often.JOB_NAME,
        "task": often.TASK,
        "item": often.ITEM,
        "dag_run_id": often.OF_DAG_RUN,
        "status": often.STATUS,
        "trigger": word("Why it exists.", "schedule", Trigger),
        "attempt_number": often.ATTEMPT_NUMBER,
        "attempts": often.ATTEMPTS,
        "retry_count": whole("Attempts after the first.", 0, 0, NUMBER_MAX),
        "claim": often.CLAIM,
        "priority": often.PRIORITY,
        "revision": often.REVISION.but("The revision of the job that it runs."),
        "worker_id": _WORKER,
        "scheduled_time": instant(
            "The time that it is for: the nominal one, else when it was due.", often.NOMINAL
        ),
        "due": instant("When it may start, or may be tried again.", often.NOMINAL),
        "created_at": often.CREATED_AT.with_example(often.NOMINAL),
        "queued_at": instant("The same as `created_at`.", often.NOMINAL),
        "started_at": often.STARTED_AT,
        "completed_at": often.COMPLETED_AT,
        "duration_ms": often.DURATION_MS,
        "input": json("What it was given. Null: the payload of its job.", None),
        "result": often.RESULT,
        "error": part("What went wrong last. Null: nothing."),
        "error_message": often.FAILURE_MESSAGE.but("The message of `error`."),
        "unique_key": name("Its unique key. Null: none.", "report-2026-03-29"),
        "progress": number(
            "How far it is, from 0 to 1, as its last checkpoint says. Null: unknown, or it has ended.",
            0.5,
            0,
            1,
        ),
        "cancel_requested": flag("It was asked to stop and has not yet.", False),
        "waits_for": word("What holds it besides its time. Null: nothing.", "slot", WaitsFor),
        "logs_url": text(
            "Where its log lines are.",
            f"/v1/executions/{often.EXECUTION}/logs",
            pattern="^/v1/executions/",
        ),
        "tenant_id": often.TENANT_ID,
    },
    ExecutionPage: {
        "executions": parts("A page of executions.", up_to=PAGE_LIMIT_MAX),
        "next_cursor": often.NEXT_CURSOR,
    },
    AttemptAnswer: {
        "attempt_number": often.ATTEMPT_NUMBER.but("Which attempt, from 1."),
        "claim": often.CLAIM,
        "worker_id": often.WORKER_ID,
        "outcome": word("How it ended.", "FAILED", AttemptOutcome),
        "error": part("What went wrong. Null: nothing."),
        "started_at": instant("When it started.", often.STARTED),
        "completed_at": instant("When it ended.", often.ENDED),
        "duration_ms": often.DURATION_MS.but("How long it took, in milliseconds."),
    },
    Attempts: {"attempts": parts("The finished attempts, oldest first.", up_to=None)},
    Stopped: {
        "execution_id": often.EXECUTION_ID,
        "status": word("Where it is now. `RUNNING`: it was asked to stop.", "CANCELLED", ExecutionStatus),
    },
    Line: {
        "position": text("Where the line is. `after` takes it.", "1.2", pattern=_POSITION),
        "claim": often.CLAIM.but("The claim of the attempt that wrote it."),
        "number": whole("Its number within the attempt, from 1.", 2, 1, NUMBER_MAX),
        "at": instant("When it was written.", often.STARTED),
        "level": word("How grave it is.", "INFO", LogLevel),
        "message": text("What it says. Longer lines are cut.", "1204 rows", up_to=LOG_LINE_BYTES_MAX),
        "context": json("What was logged beside it. Null: nothing.", {"rows": 1204}),
    },
    Lines: {
        "lines": parts("Lines in order.", up_to=PAGE_LIMIT_MAX),
        "next_after": _AFTER.but("Send it as `after` to read on, now or when there is more."),
    },
    RunAgain: {"revision": _AT},
    RedrivenAnswer: {
        "execution_id": often.EXECUTION_ID.but("The new execution; of a task of a workflow, its run."),
        "run_id": often.RUN_ID,
        "is_new": flag("False if it was redriven before: then this is what it became.", True),
        "revision": often.REVISION.but("The revision that runs. Null if retention has dropped it."),
        "dag_run_id": uuid("Of a task of a workflow: the run that goes on.", often.DAG_RUN),
    },
    DeadLetterAnswer: {
        "execution_id": _LETTER_ID,
        "job_id": often.JOB_ID,
        "job_name": often.JOB_NAME,
        "task": often.TASK,
        "item": often.ITEM,
        "dag_run_id": often.OF_DAG_RUN,
        "reason": word("Why it is not tried again.", "exhausted", DeadReason),
        "error": part("What went wrong last."),
        "attempts": often.ATTEMPTS,
        "died_at": instant("When it ended.", often.ENDED),
        "redriven_as": uuid("What it became. Null: it was not redriven.", often.DAG_RUN),
        "redriven_at": instant("When it was redriven.", often.NEXT),
    },
    DeadLetterPage: {
        "dead_letters": parts("A page of dead letters.", up_to=PAGE_LIMIT_MAX),
        "next_cursor": often.NEXT_CURSOR,
    },
    Which: {
        "execution_ids": _LETTERS,
        "job_id": _OF_JOB,
        "all": flag("All of them. Say one of `execution_ids`, `job_id` and `all`.", True),
        "limit": whole("With `job_id` or `all`: how many at most.", 100, 1, REDRIVE_MAX),
    },
    WhichToRedrive: {"revision": _AT},
    Refused: {
        "execution_id": _LETTER_ID,
        "code": text("The code of the refusal.", "ILLEGAL_TRANSITION", pattern="^[A-Z_]+$"),
        "message": text("What it says.", "A job that is DELETED cannot be changed by 'redrive'.", up_to=None),
    },
    Redriven: {
        "executions": parts("What they became.", up_to=REDRIVE_MAX),
        "refused": parts("Those of a filter that could not be redriven, and why.", up_to=REDRIVE_MAX),
    },
    Purged: {"execution_ids": _LETTERS.but("Which were forgotten.")},
}
_AGAIN = {"The newest revision": {}, "The revision that it had": {"revision": "original"}}
CALLS: Calls = {
    "list_executions": CallDescription("List executions", parameters={"job_id": _OF_JOB, **often.PERIOD}),
    "get_execution": CallDescription("Get an execution"),
    "list_attempts": CallDescription("List the attempts of an execution"),
    "cancel_execution": CallDescription("Cancel an execution"),
    "retry_execution": CallDescription(
        "Run an execution again", bodies=_AGAIN, refusals=(IllegalTransition, JobNotFound)
    ),
    "explain_execution": CallDescription("Explain why an execution does not run"),
    "read_logs": CallDescription("Read the log lines of an execution", parameters={"after": _AFTER}),
    "follow_logs": CallDescription(
        "Follow the log lines of an execution",
        parameters={"after": _AFTER},
        answer='event: line\nid: 1.2\ndata: {"position":"1.2","message":"1204 rows"}\n\n',
    ),
    "list_dead_letters": CallDescription("List dead letters", parameters={"job_id": _OF_JOB}),
    "get_dead_letter": CallDescription("Get a dead letter", refusals=(DeadLetterNotFound,)),
    "redrive_one": CallDescription(
        "Redrive a dead letter", bodies=_AGAIN, refusals=(DeadLetterNotFound, IllegalTransition, JobNotFound)
    ),
    "redrive_many": CallDescription(
        "Redrive dead letters",
        bodies={"All of them": {"all": True, "limit": 100}},
        refusals=(DeadLetterNotFound, IllegalTransition, JobNotFound),
    ),
    "purge_one": CallDescription("Forget a dead letter", refusals=(DeadLetterNotFound,)),
    "purge_many": CallDescription(
        "Forget dead letters",
        bodies={"All of them": {"all": True}},
        refusals=(DeadLetterNotFound, JobNotFound),
    ),
}
