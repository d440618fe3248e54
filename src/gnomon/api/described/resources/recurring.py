"""Fields that many answers and calls have. The examples belong together: one job, its run, its worker."""

from __future__ import annotations

from gnomon.api.described.field import (
    NUMBER_MAX,
    count,
    flag,
    instant,
    json,
    name,
    text,
    uuid,
    whole,
    word,
)
from gnomon.core.executions.execution import (
    FAILURE_KIND_LENGTH_MAX,
    FAILURE_MESSAGE_LENGTH_MAX,
    ExecutionStatus,
)
from gnomon.core.explain.job_state import JobState
from gnomon.core.jobs.job import PRIORITY_MAX, PRIORITY_MIN
from gnomon.core.jobs.retry import ATTEMPTS_MAX
from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.values.document import NAME_LENGTH_MAX
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.errors import KindDisabled, UnknownKind

JOB = "019a96f2-6c00-7a31-8b52-4f1d0c9e7a10"
EXECUTION = "019a96f8-1e40-7c02-9d11-52ab8f3c6e21"
DAG = "019a96f2-7d10-7b44-a3c9-0e5f7d2b8c33"
DAG_RUN = "019a96f9-0a80-7d55-b7e2-6c1a9f4d3b44"
BACKFILL = "019a96fa-2b90-7e66-8f13-7d2b0a5e4c55"
KEY = "019a96e0-1c00-7f77-9a24-8e3c1b6f5d66"
BOOT = "019a96f0-3d10-7088-ab35-9f4d2c7a6e77"
REQUEST = "019a96fb-4e20-7199-bc46-a05e3d8b7f88"
TENANT = "00000000-0000-7000-8000-000000000000"

EARLIER = "2026-03-28T08:00:00Z"
NOMINAL = "2026-03-29T09:00:00Z"
STARTED = "2026-03-29T09:00:00.214000Z"
ENDED = "2026-03-29T09:00:03.850000Z"
NEXT = "2026-03-30T09:00:00Z"

JOB_ID = uuid("The id of the job.", JOB)
EXECUTION_ID = uuid("The id of the execution.", EXECUTION)
RUN_ID = uuid("The same as `execution_id`, under the other name that it has.", EXECUTION)
DAG_ID = uuid("The id of the workflow.", DAG)
DAG_RUN_ID = uuid("The id of the run of the workflow.", DAG_RUN)
TENANT_ID = uuid("The tenant that it belongs to.", TENANT)
WORKER_ID = name("The name of the worker.", "worker-a1")
JOB_NAME = name("The name of the job. Null if retention has removed the job.", "nightly-report")
NAME_PREFIX = name("Only those whose name begins so. Upper and lower case differ.", "nightly-")
NAME_CONTAINS = name("Only those whose name has this in it. Upper and lower case differ.", "report")
TASK = name("The name of the task, if this is a task of a workflow.", "load")
TASK_ID = uuid(
    "The id of the task, the same for as long as its name.", "6f1c0d52-8a4e-5b37-9d20-3c7e5a918b04"
)
ITEM = count("Which item of a fan-out this is, from 0. Null outside of fan-outs.", 0)
OF_DAG_RUN = uuid("The run of the workflow, if this is a task of one.", DAG_RUN)

STATUS = word("Where the execution is. Derived, so it is never out of date.", "COMPLETED", ExecutionStatus)
STATE = word("What it does now. Derived, so it is never out of date.", "scheduled", JobState)
CREATED_AT = instant("When it was created.", EARLIER)
UPDATED_AT = instant("When it was last changed by a call.", EARLIER)
STARTED_AT = instant("When the current or last attempt started. Null before the first.", STARTED)
COMPLETED_AT = instant("When it ended. Null until then.", ENDED)
DURATION_MS = count("From the start of the last attempt to its end, in milliseconds.", 3636)

VERSION = whole("Grows with each change by a call. What `If-Match` and `version` compare.", 3, 1, NUMBER_MAX)
SEEN = whole(
    "The version that you have seen. If the object has changed since, the call is refused with 409 "
    "`VERSION_CONFLICT`. Null or absent: the change is made in any case.",
    3,
    1,
    999_999_999,
)
SEEN_BODIES = {"Whatever version it has": {}, "If it has not changed": {"version": 1}}
REVISION = whole("The revision of the definition. Grows when what it says changes.", 2, 1, NUMBER_MAX)
CLAIM = whole(
    "The number of the claim: the fencing token. Grows each time the execution is handed to a worker; 0 "
    "before the first time.",
    1,
    0,
    NUMBER_MAX,
)
PRIORITY = whole("Runs with a higher one start first.", 5, PRIORITY_MIN, PRIORITY_MAX)
ATTEMPTS = whole("How many attempts have ended and count against `max_attempts`.", 1, 0, NUMBER_MAX)
ATTEMPT_NUMBER = whole("The current attempt, from 1; of an ended execution the last one.", 1, 0, NUMBER_MAX)
MAX_ATTEMPTS = whole("How many attempts there may be, the first one too.", 3, 1, ATTEMPTS_MAX)

NEXT_CURSOR = text(
    "Send it as `cursor` to get the next page. Null on the last page.", "f0pXbqx1TtoBmpb2bAB6", up_to=None
)
FAILURE_KIND = text(
    "The kind of the failure, which `retry_on` compares: the name of an exception, `http_503`, "
    "`timeout`, ...",
    "ConnectionError",
    up_to=FAILURE_KIND_LENGTH_MAX,
    low=1,
)
FAILURE_MESSAGE = text(
    "What went wrong, for people.", "the report server did not answer", up_to=FAILURE_MESSAGE_LENGTH_MAX
)
LIMIT = whole("How many at most.", 50, 1, PAGE_LIMIT_MAX)
CURSOR = text(
    "`next_cursor` of the page before. It fits this list with these filters, and no other.",
    "f0pXbqx1TtoBmpb2bAB6",
    up_to=None,
)
RESULT = json(
    "What the handler returned. Null until it has ended, and if it returned nothing.", {"rows": 1204}
)
UNIQUE_KEY = name(
    "While a run with this key is live, another one with it is not created; the answer then "
    "names the live one.",
    "report-2026-03-29",
)
TAG = name("A tag.", "finance")
CAPABILITY = name("A capability.", "gpu")
QUEUE = name("Where its runs wait. Workers say which queues they serve.", "default")
KIND = text(
    "What runs it: `http`, `script`, `python`, `dummy`, or the name of a handler of your own. Read in any "
    "case. Without it, it follows from the payload. One that no handler of the server and no live worker has "
    "is refused.",
    "http",
    up_to=NAME_LENGTH_MAX,
)
NEXT_RUN_SKIP = word(
    "`calendar`: the calendar of the schedule takes `next_run_time` out. Null: it does not.",
    SkipReason.CALENDAR,
    [SkipReason.CALENDAR],
)
PERIOD = {
    "since": instant("Only executions made at this instant or later, with an offset.", EARLIER),
    "until": instant("Only executions made before this instant, with an offset.", ENDED),
}
OF_KINDS = (UnknownKind, KindDisabled)
ALLOW_UNKNOWN_KIND = flag(
    "Save it although no handler of the server and no live worker has the kind. Default: false.", False
)
