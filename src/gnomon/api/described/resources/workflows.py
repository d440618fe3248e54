"""Workflows: written down, changed and compared."""

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
    part,
    parts,
    seconds,
    shape,
    text,
    whole,
    word,
)
from gnomon.api.described.resources import jobs
from gnomon.api.described.resources import recurring as often
from gnomon.api.described.resources.schedules import CRON, TIMEZONE
from gnomon.api.forms.dag_answers import DagAnswer, DagDetails, DagPage, DagTask
from gnomon.api.resources.dag_revisions import (
    DiffAnswer,
    FieldChange,
    RevisionAnswer,
    RevisionPage,
    TaskChange,
)
from gnomon.api.resources.dags import ChangedDag, NewDag, Trigger
from gnomon.core.jobs.job import TAGS_MAX, JobStatus
from gnomon.core.jobs.retry import ATTEMPTS_MAX
from gnomon.core.runs.state import RunStatus
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.core.workflows.dag import DEFINITION_BYTES_MAX
from gnomon.core.workflows.forms import (
    ApprovalForm,
    ConditionForm,
    EventForm,
    FanOutForm,
    RetryForm,
    TaskForm,
)
from gnomon.core.workflows.graph import TASKS_MAX
from gnomon.core.workflows.references import REFERENCE_LENGTH_MAX, Comparison
from gnomon.core.workflows.trigger_rules import TriggerRule
from gnomon.core.workflows.workflow import CONDITIONS_MAX, HOLD_MAX, HOLD_MIN, ITEMS_MAX, FailureStrategy
from gnomon.errors import (
    CalendarNotFound,
    IllegalTransition,
    InvalidCron,
    InvalidDag,
    InvalidTimezone,
    JobAlreadyExists,
    JobFired,
)

_TASKS = [
    {"name": "extract", "kind": "http", "payload": {"url": "https://example.com/rows"}},
    {
        "name": "load",
        "kind": "http",
        "depends_on": ["extract"],
        "payload": {
            "url": "https://example.com/load",
            "method": "POST",
            "json": {"from": "${tasks.extract.result}"},
        },
    },
]
_DEFINITION = {"name": "etl-pipeline", "cron_expression": "0 2 * * *", "timezone": "UTC", "tasks": _TASKS}
_NAME = name("Unique among the workflows and jobs of the tenant.", "etl-pipeline")
_TASK_NAME = name("The name of a task.", "load")
_CONFIG = json(
    "An object that tasks refer to with `${config.key}`; a run may override its keys.", {"day": "monday"}
)
_NEEDED = many("The names of the tasks that it waits for.", _TASK_NAME, up_to=TASKS_MAX, example=["extract"])
_HOLD = seconds(
    "How long to wait, in seconds; then the task fails. Null: for ever.", 86_400, HOLD_MIN, HOLD_MAX
)
_REVISION = often.REVISION.but("The revision, from 1.")
_NAMES = many("Names of tasks.", _TASK_NAME, up_to=TASKS_MAX)
_CHANGES = part("What changed, by the name of the field.").with_example(
    {"cron_expression": {"before": "0 1 * * *", "after": "0 2 * * *"}}
)

FIELDS: Fields = {
    TaskForm: {
        "name": name("Unique in the workflow.", "load"),
        "kind": often.KIND.but("What runs it, as of a job. Without it, `action` in the payload says it."),
        "payload": json(
            "What the handler gets. May hold references such as `${tasks.extract.result.rows}`.", {}
        ),
        "depends_on": _NEEDED,
        "dependencies": _NEEDED.but("The same as `depends_on`; say one of them."),
        "trigger_rule": word(
            "What must have become of the tasks that it waits for.", "all_success", TriggerRule
        ),
        "condition": parts(
            "A question about a value of the run, or a list of them. Unless all hold, it is skipped.",
            up_to=CONDITIONS_MAX,
        ),
        "fan_out": part("One execution for each item of a list."),
        "timeout_seconds": jobs.TIMEOUT.but("How long an attempt may take. Default: 3600. Null: any time."),
        "max_retries": whole("Attempts after the first.", 2, 0, ATTEMPTS_MAX - 1),
        "retry_policy": part("How often and how soon a failed attempt is tried again."),
        "retry_config": part("The same as `retry_policy`; say one of them."),
        "queue": often.QUEUE,
        "priority": often.PRIORITY,
        "capabilities": jobs.CAPABILITIES,
        "dag": name("Instead of `kind`: the name of a workflow of which it is a run.", "clean-up"),
        "config": json("With `dag`: the configuration of that run.", {"day": "monday"}),
        "approval": part("Instead of `kind`: wait for a person."),
        "event": part("Instead of `kind`: wait for an event."),
    },
    RetryForm: jobs.RETRY,
    ConditionForm: {
        "value_of": text(
            "One reference, whose value is asked about.",
            "${tasks.extract.result.rows}",
            up_to=REFERENCE_LENGTH_MAX,
        ),
        "is": word("How it is compared.", ">", Comparison),
        "value": json("What it is compared with.", 0),
    },
    FanOutForm: {
        "over": text("A reference to a list.", "${tasks.extract.result.urls}", up_to=REFERENCE_LENGTH_MAX),
        "limit": whole("More items than this fail the task.", 1000, 1, ITEMS_MAX),
    },
    ApprovalForm: {"timeout_seconds": _HOLD},
    EventForm: {
        "name": name("The name of the event.", "file.arrived"),
        "correlation": text(
            "Only events with the same text count. May hold references.", "2026-03-28", up_to=None
        ),
        "timeout_seconds": _HOLD,
    },
    NewDag: {
        "name": _NAME,
        "tasks": many(
            "Its tasks, in any order.", shape("", "TaskForm"), up_to=TASKS_MAX, low=1, example=_TASKS
        ),
        "cron_expression": CRON.but("When it runs. Say this or `schedule`; neither: only when asked."),
        "timezone": TIMEZONE.but("The zone of the expression, and of `${run.day}`. Default: `UTC`."),
        "schedule": shape("When it runs, as an object.", "DagSchedule"),
        "failure_strategy": word(
            "What a failed task means for the rest of its run. Default: `FAIL_DOWNSTREAM`.",
            "FAIL_DOWNSTREAM",
            FailureStrategy,
        ),
        "allow_partial_completion": flag(
            "A run in which something completed counts as completed, in spite of failures. Default: false.",
            False,
        ),
        "config": _CONFIG,
        "tags": many("Names to find it by.", often.TAG, up_to=TAGS_MAX),
        "allow_unknown_kind": often.ALLOW_UNKNOWN_KIND.but(
            "Save it although no handler of the server and no live worker has the kind of a task. "
            "Default: false."
        ),
    },
    ChangedDag: {"version": often.SEEN},
    Trigger: {"config": _CONFIG.but("Goes over the configuration of the workflow, key by key.")},
    DagAnswer: {
        "dag_id": often.DAG_ID,
        "name": _NAME,
        "status": word("What becomes of its due times.", "ACTIVE", JobStatus),
        "state": often.STATE,
        "version": often.VERSION,
        "revision": often.REVISION,
        "cron_expression": CRON.but("Its cron expression. Null unless it is a cron schedule."),
        "timezone": TIMEZONE.but("The time zone of its expression. Null unless it is a cron schedule."),
        "schedule": shape("Its schedule.", "Schedule"),
        "next_run_time": instant("When it runs next. Null: only when asked.", often.NEXT),
        "last_run_time": instant("The last time that it ran for. Null: it never did.", often.NOMINAL),
        "tags": many("Names to find it by.", often.TAG, up_to=TAGS_MAX),
        "created_at": often.CREATED_AT,
        "updated_at": often.UPDATED_AT,
        "tenant_id": often.TENANT_ID,
    },
    DagTask: {"task_id": often.TASK_ID, "name": _TASK_NAME, "dependencies": _NEEDED},
    DagDetails: {
        "config": _CONFIG,
        "tasks": parts("The tasks of its current revision.", up_to=TASKS_MAX),
        "definition": json(
            "The current revision, as it was written.", _DEFINITION, bytes_max=DEFINITION_BYTES_MAX
        ),
        "next_run_skip": often.NEXT_RUN_SKIP,
    },
    DagPage: {
        "dags": parts("A page of workflows.", up_to=PAGE_LIMIT_MAX),
        "next_cursor": often.NEXT_CURSOR,
    },
    RevisionAnswer: {
        "dag_id": often.DAG_ID,
        "revision": _REVISION,
        "tasks": whole("How many tasks it has.", 2, 1, TASKS_MAX),
        "created_at": instant("When it was written.", often.EARLIER),
        "definition": json("The revision as it was written.", _DEFINITION, bytes_max=DEFINITION_BYTES_MAX),
    },
    RevisionPage: {
        "revisions": parts("A page of revisions.", up_to=PAGE_LIMIT_MAX),
        "next_cursor": often.NEXT_CURSOR,
    },
    FieldChange: {
        "before": json(
            "What the older revision says. Null: nothing.", "0 1 * * *", bytes_max=DEFINITION_BYTES_MAX
        ),
        "after": json(
            "What the newer revision says. Null: nothing.", "0 2 * * *", bytes_max=DEFINITION_BYTES_MAX
        ),
    },
    TaskChange: {"name": _TASK_NAME, "fields": _CHANGES},
    DiffAnswer: {
        "dag_id": often.DAG_ID,
        "from_revision": _REVISION.with_example(1),
        "to_revision": _REVISION,
        "fields": _CHANGES.but("What changed of the workflow itself, by the name of the field."),
        "tasks_added": _NAMES.but("Tasks that only the newer revision has."),
        "tasks_removed": _NAMES.but("Tasks that only the older revision has."),
        "tasks_changed": parts("Tasks that both have, and what changed.", up_to=TASKS_MAX),
    },
}
_WRITTEN = (InvalidDag, InvalidCron, InvalidTimezone, CalendarNotFound, JobAlreadyExists)
_ACTS = (IllegalTransition, JobFired)
_SIDE = whole("A revision, from 1.", 1, 1, NUMBER_MAX)
CALLS: Calls = {
    "create_dag": CallDescription(
        "Make a workflow",
        bodies={"Two tasks at two at night": _DEFINITION},
        refusals=(*_WRITTEN, *often.OF_KINDS),
        takes_key=True,
        tags=True,
        locates=True,
    ),
    "list_dags": CallDescription(
        "List workflows",
        parameters={
            "status": word(
                "Only workflows with this status. Without it, all but deleted ones.", "ACTIVE", JobStatus
            ),
            "name": _NAME.but("Only the workflow with this name."),
            "name_prefix": often.NAME_PREFIX,
            "name_contains": often.NAME_CONTAINS,
            "tag": often.TAG.but("Only workflows with this tag."),
        },
    ),
    "get_dag": CallDescription("Get a workflow", tags=True),
    "update_dag": CallDescription(
        "Change a workflow",
        bodies={"At three": {**_DEFINITION, "cron_expression": "0 3 * * *"}},
        refusals=(*_WRITTEN, *often.OF_KINDS, *_ACTS),
        takes_key=True,
        takes_version=True,
        tags=True,
    ),
    "delete_dag": CallDescription("Delete a workflow", refusals=_ACTS, takes_version=True, tags=True),
    "pause_dag": CallDescription(
        "Pause a workflow", bodies=often.SEEN_BODIES, refusals=_ACTS, takes_version=True, tags=True
    ),
    "resume_dag": CallDescription(
        "Resume a workflow",
        bodies=often.SEEN_BODIES,
        refusals=(*_ACTS, CalendarNotFound),
        takes_version=True,
        tags=True,
    ),
    "trigger_dag": CallDescription(
        "Run a workflow",
        bodies={"As it is": {}, "With another configuration": {"config": {"day": "tuesday"}}},
        refusals=(IllegalTransition,),
        takes_key=True,
    ),
    "list_dag_runs": CallDescription(
        "List the runs of a workflow",
        parameters={"status": word("Only runs with this status.", "RUNNING", RunStatus)},
    ),
    "list_dag_revisions": CallDescription("List the revisions of a workflow"),
    "get_dag_revision": CallDescription(
        "Get a revision of a workflow",
        parameters={"revision": text("Its number.", "1", pattern="^[0-9]{1,9}$")},
    ),
    "diff_dag_revisions": CallDescription(
        "Compare two revisions of a workflow",
        parameters={
            "from": _SIDE.but("The older revision. Default: the one before `to`."),
            "to": _SIDE.but("The newer revision. Default: the current one.").with_example(2),
        },
    ),
}
