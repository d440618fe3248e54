"""Jobs: made, changed and looked at."""

from __future__ import annotations

from datetime import timedelta

from gnomon.api.described.call import CallDescription, Calls, Refusal
from gnomon.api.described.field import (
    NUMBER_MAX,
    Fields,
    Rows,
    instant,
    json,
    many,
    name,
    number,
    part,
    parts,
    seconds,
    shape,
    uuid,
    whole,
    word,
)
from gnomon.api.described.resources import recurring as often
from gnomon.api.described.resources.schedules import CRON, FIRES, TIMEZONE, TYPE
from gnomon.api.forms.job_answers import CancelledJob, CurrentRun, JobAnswer, JobDetails, JobPage, LastRun
from gnomon.api.forms.job_forms import JobForm, JobPatch, NewJob
from gnomon.api.forms.reading import Seen
from gnomon.api.forms.retry_forms import Retry
from gnomon.api.forms.schedule_forms import JOB_TYPES
from gnomon.api.resources.jobs import BATCH_MAX, JobsMade, NewJobs
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.jobs import job
from gnomon.core.jobs.job import Delivery, JobStatus
from gnomon.core.jobs.retry import (
    ATTEMPTS_MAX,
    BACKOFF_MAX,
    CRASH_LIMIT_MAX,
    CRASH_LIMIT_MIN,
    MULTIPLIER_MAX,
    RETRY_ON_MAX,
    Backoff,
)
from gnomon.core.time.schedule_document import TYPES
from gnomon.core.values.instants import MICROSECOND
from gnomon.core.values.limits import MAX_CONCURRENT_MAX, PAGE_LIMIT_MAX
from gnomon.errors import (
    CalendarNotFound,
    IllegalTransition,
    InvalidCron,
    InvalidDependency,
    InvalidTimezone,
    JobAlreadyExists,
    JobFired,
    JobNotFound,
)

_ZERO = timedelta(0)
_NAME = name("Unique among the live jobs of the tenant.", "nightly-report")
_PAYLOAD = json(
    "What the handler of its kind wants. Of `http`: `url`, `method`, `headers`, `json` or `body`, ...",
    {"url": "https://example.com/report", "method": "POST"},
)
TIMEOUT = seconds(
    "How long an attempt may take before it is stopped. Null: as long as it wants.",
    600,
    MICROSECOND,
    job.TIMEOUT_MAX,
)
CAPABILITIES = many(
    "Only workers that have all of these run it.", often.CAPABILITY, up_to=job.CAPABILITIES_MAX
)
MAX_CONCURRENT = whole("How many of its runs may be there at once. Null: no limit.", 1, 1, MAX_CONCURRENT_MAX)
DELIVERY = word(
    "`at_least_once`: an attempt that is lost is repeated. `at_most_once`: an attempt that has "
    "started never is.",
    "at_least_once",
    Delivery,
)
TAGS = many("Names to find it by.", often.TAG, up_to=job.TAGS_MAX)
_NEEDED = name("The id or the name of a job.", "import")
_DEPENDENCIES = many(
    "Jobs that must have succeeded since this one fired before, or it waits for them.",
    _NEEDED,
    up_to=job.DEPENDENCIES_MAX,
    example=[],
)
RETRY: Rows = {
    "max_attempts": often.MAX_ATTEMPTS.but("How many attempts there may be, the first one too. Default: 3."),
    "max_retries": whole("The same, less one: attempts after the first.", 2, 0, ATTEMPTS_MAX - 1),
    "backoff": word(
        "How the wait grows from attempt to attempt. Default: `exponential`.", "exponential", Backoff
    ),
    "backoff_seconds": seconds("The first wait, in seconds. Default: 60.", 60, _ZERO, BACKOFF_MAX),
    "initial_delay_seconds": seconds("The same as `backoff_seconds`.", 60, _ZERO, BACKOFF_MAX),
    "backoff_multiplier": number(
        "By how much each wait is longer than the one before. Default: 2.", 2, 1, MULTIPLIER_MAX
    ),
    "max_backoff_seconds": seconds("No wait is longer than this. Default: 3600.", 3600, _ZERO, BACKOFF_MAX),
    "jitter": number(
        "Each wait is longer or shorter by up to this share of it, by chance. Default: 0.1.", 0.1, 0, 1
    ),
    "retry_on": many(
        "Only failures of these kinds are tried again. Null: all of them.",
        name("The kind of a failure.", "ConnectionError"),
        up_to=RETRY_ON_MAX,
    ),
    "crash_limit": whole(
        "How many times in a row its worker may die before it is given up as a crash loop. Default: 3.",
        3,
        CRASH_LIMIT_MIN,
        CRASH_LIMIT_MAX,
    ),
}
SHAPES: dict[str, Rows] = {
    "RetryPolicy": {**RETRY, "retry_on": RETRY["retry_on"].or_null()},
}
_STATUS = word("What becomes of its due times.", "ACTIVE", JobStatus)

FIELDS: Fields = {
    JobForm: {
        "kind": often.KIND,
        "job_type": TYPE,
        "cron_expression": CRON.but("The same as `cron`."),
        "schedule": part("The schedule as an object. Its fields may stand beside it as well; say each once."),
        "payload": _PAYLOAD,
        "retry_config": part("The same as `retry_policy`; say one of them."),
        "retry_policy": part("How often and how soon a failed run is tried again. Null: the default."),
        "timeout_seconds": TIMEOUT,
        "priority": often.PRIORITY.but("From 0 to 9; runs with a higher one start first. Default: 5."),
        "queue": often.QUEUE,
        "capabilities": CAPABILITIES,
        "max_concurrent": MAX_CONCURRENT,
        "delivery": DELIVERY,
        "tags": TAGS,
        "dependencies": _DEPENDENCIES,
        "allow_unknown_kind": often.ALLOW_UNKNOWN_KIND,
    },
    NewJob: {"name": _NAME},
    JobPatch: {"name": _NAME, "version": often.SEEN},
    Seen: {"version": often.SEEN},
    NewJobs: {"jobs": parts("The jobs to make, all or none.", up_to=BATCH_MAX)},
    Retry: RETRY,
    JobAnswer: {
        "job_id": often.JOB_ID,
        "name": _NAME,
        "status": _STATUS,
        "state": often.STATE,
        "kind": often.KIND.but("What runs it."),
        "job_type": word("The kind of its schedule.", "CRON", JOB_TYPES.values()),
        "cron_expression": CRON.but("Its cron expression. Null unless it is a cron schedule."),
        "timezone": TIMEZONE.but("The time zone of its expression. Null unless it is a cron schedule."),
        "schedule": shape("Its schedule.", "JobSchedule"),
        "payload": _PAYLOAD.but("What the handler gets."),
        "retry_config": shape("The same as `retry_policy`.", "RetryPolicy"),
        "retry_policy": shape("How often and how soon a failed run is tried again.", "RetryPolicy"),
        "timeout_seconds": TIMEOUT,
        "priority": often.PRIORITY,
        "queue": often.QUEUE,
        "capabilities": CAPABILITIES,
        "max_concurrent": MAX_CONCURRENT,
        "delivery": DELIVERY,
        "tags": TAGS,
        "dependencies": many(
            "The jobs that it waits for.",
            uuid("The id of a job.", often.JOB),
            up_to=job.DEPENDENCIES_MAX,
            example=[],
        ),
        "next_run_time": instant("When it fires next. Null: it does not.", often.NEXT),
        "last_run_time": instant("The last time that it fired for. Null: it never did.", often.NOMINAL),
        "fires": FIRES,
        "version": often.VERSION,
        "revision": often.REVISION,
        "tenant_id": often.TENANT_ID,
        "created_at": often.CREATED_AT,
        "updated_at": often.UPDATED_AT,
    },
    JobDetails: {
        "current_run": part("The run that a worker has now. Null: none."),
        "last_run": part("The run that ended last, among the newest ten. Null: none."),
        "retry_count": whole("How often the current or latest run was tried again.", 0, 0, NUMBER_MAX),
        "next_run_skip": often.NEXT_RUN_SKIP,
    },
    CurrentRun: {
        "run_id": often.RUN_ID,
        "execution_id": often.EXECUTION_ID,
        "started_at": often.STARTED_AT,
        "worker_id": often.WORKER_ID,
    },
    LastRun: {
        "run_id": often.RUN_ID,
        "execution_id": often.EXECUTION_ID,
        "status": word("How it ended.", "COMPLETED", [one for one in ExecutionStatus if one.is_final]),
        "completed_at": often.COMPLETED_AT,
    },
    CancelledJob: {"cancelled_at": instant("When it was cancelled.", often.ENDED)},
    JobPage: {
        "jobs": parts("A page of jobs.", up_to=PAGE_LIMIT_MAX),
        "next_cursor": often.NEXT_CURSOR,
    },
    JobsMade: {"jobs": parts("The jobs, in the order of the call.", up_to=BATCH_MAX)},
}

_REPORT = {
    "name": "nightly-report",
    "kind": "http",
    "cron": "0 9 * * MON-FRI",
    "timezone": "Europe/Berlin",
    "payload": {"url": "https://example.com/report", "method": "POST"},
}
_WHEN = (InvalidCron, InvalidTimezone, InvalidDependency, JobNotFound, CalendarNotFound)


def _act(summary: str, *more: Refusal) -> CallDescription:
    return CallDescription(
        summary,
        bodies=often.SEEN_BODIES,
        refusals=(IllegalTransition, JobFired, *more),
        takes_version=True,
        tags=True,
    )


CALLS: Calls = {
    "create_job": CallDescription(
        "Make a job",
        bodies={
            "A call over HTTP on weekdays at nine": _REPORT,
            "A script every quarter of an hour": {
                "name": "clean-up",
                "kind": "script",
                "schedule": {"type": "interval", "every_seconds": 900},
                "payload": {"argv": ["echo", "cleaning"]},
                "timeout_seconds": 60,
            },
            "Once, with a retry policy": {
                "name": "reminder",
                "kind": "http",
                "delay_seconds": 3600,
                "payload": {"url": "https://example.com/remind"},
                "retry_policy": {"max_attempts": 5, "backoff": "exponential", "backoff_seconds": 10},
            },
        },
        refusals=(*_WHEN, *often.OF_KINDS, JobAlreadyExists),
        takes_key=True,
        tags=True,
        locates=True,
    ),
    "create_jobs": CallDescription(
        "Make many jobs",
        bodies={"Two jobs": {"jobs": [{**_REPORT, "name": "report-eu"}, {**_REPORT, "name": "report-us"}]}},
        refusals=(*_WHEN, *often.OF_KINDS, JobAlreadyExists),
        takes_key=True,
    ),
    "list_jobs": CallDescription(
        "List jobs",
        parameters={
            "status": _STATUS.but("Only jobs with this status. Without it, all but deleted ones."),
            "tag": often.TAG.but("Only jobs with this tag."),
            "name": _NAME.but("Only the job with this name."),
            "name_prefix": often.NAME_PREFIX,
            "name_contains": often.NAME_CONTAINS,
            "kind": often.KIND.but("Only jobs of this kind."),
            "type": word("Only jobs with this kind of schedule, in any case.", "cron", TYPES),
            "next_run_before": instant("Only jobs that fire next before this instant.", often.NEXT),
            "next_run_after": instant("Only jobs that fire next after this instant.", often.EARLIER),
        },
    ),
    "get_job": CallDescription("Get a job", tags=True),
    "update_job": CallDescription(
        "Change a job",
        bodies={
            "Another time": {"cron": "30 8 * * MON-FRI", "version": 1},
            "No limit of time": {"timeout_seconds": None},
        },
        refusals=(*_WHEN, *often.OF_KINDS, JobAlreadyExists, IllegalTransition, JobFired),
        takes_key=True,
        takes_version=True,
        tags=True,
    ),
    "delete_job": _act("Delete a job"),
    "pause_job": _act("Pause a job"),
    "resume_job": _act("Resume a job", CalendarNotFound),
    "cancel_job": _act("Cancel a job"),
}
