"""All tables together, the sections of the API, and parameters that mean the same everywhere."""

from __future__ import annotations

from gnomon.api.described.call import Calls
from gnomon.api.described.field import Fields, Rows, name, uuid, word
from gnomon.api.described.resources import (
    access,
    calendars,
    dag_runs,
    executions,
    jobs,
    leases,
    runs,
    schedules,
    system,
    workers,
    workflows,
)
from gnomon.api.described.resources import recurring as often
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.workflows.forms import TaskForm

_ROOMS = (jobs, schedules, calendars, runs, executions, workflows, dag_runs, workers, leases, access, system)

FIELDS: Fields = {struct: rows for room in _ROOMS for struct, rows in room.FIELDS.items()}
CALLS: Calls = {call: told for room in _ROOMS for call, told in room.CALLS.items()}
SHAPES: dict[str, Rows] = {**schedules.SHAPES, **jobs.SHAPES}
# What a form keeps as a dictionary, and the core reads.
READ_LATER = (TaskForm,)
PARAMETERS: Rows = {
    "job_id": often.JOB_ID,
    "execution_id": often.EXECUTION_ID,
    "dag_id": often.DAG_ID,
    "dag_run_id": often.DAG_RUN_ID,
    "backfill_id": uuid("The id of the backfill.", often.BACKFILL),
    "worker_id": often.WORKER_ID,
    "key_id": uuid("The id of the key.", often.KEY),
    "task": name("The name of the task.", "load"),
    "limit": often.LIMIT,
    "cursor": often.CURSOR,
    "status": word("Only executions with this status.", "FAILED", ExecutionStatus),
}
_PROTOCOL = (
    "Claim, renew, complete. A call speaks for the worker that its key registered. Where nothing of what it "
    "names is held any more, it is refused with 409 `LEASE_LOST`."
)
# By the module of the routes, in the order of the page.
SECTIONS: dict[str, tuple[str, str]] = {
    "jobs": ("Jobs", "Definitions: what to run, when, and how to retry."),
    "job_runs": ("Runs of a job", "Ask for runs, and see what became of the times of a schedule."),
    "schedules": ("Schedules", "What a schedule will do, before it does."),
    "calendars": ("Calendars", "Dates on which schedules do not fire."),
    "executions": ("Executions", "One run of a job, through all its attempts."),
    "dead_letters": (
        "Dead letters",
        "Executions that ended for good without success, kept to be looked at and run again.",
    ),
    "dags": ("Workflows", "Tasks that wait for each other."),
    "dag_revisions": ("Revisions of workflows", "What a workflow said before."),
    "dag_runs": ("Runs of workflows", "Look at, stop, repair and approve."),
    "dag_tasks": ("Tasks of a run", "How far each task of a run is."),
    "backfills": ("Backfills", "Run the past of a workflow."),
    "workers": ("Workers", "Processes that run executions."),
    "leases": ("The worker protocol", _PROTOCOL),
    "events": (
        "Events",
        "What happens, as it happens, as CloudEvents. The same stream over a WebSocket is at `/v1/events`.",
    ),
    "keys": ("Keys", "Who may call, and what."),
    "tenants": ("Tenant", "The tenant of the key."),
    "health": ("Health", "For probes. They need no key."),
    "metrics": ("Metrics", "For Prometheus."),
    "pages": ("Description", "This page, and the same for programs."),
}
