"""Runs of a job: asked for, listed, explained."""

from __future__ import annotations

from datetime import timedelta

from gnomon.api.described.call import CallDescription, Calls
from gnomon.api.described.field import (
    Fields,
    flag,
    instant,
    json,
    part,
    parts,
    seconds,
    text,
    uuid,
    whole,
    word,
)
from gnomon.api.described.resources import recurring as often
from gnomon.api.forms.execution_answers import Asked, ReasonAnswer
from gnomon.api.resources.job_runs import (
    BATCH_MAX,
    OUTCOMES,
    ExecutionExplanation,
    ExecutionReasons,
    JobExplanation,
    ManyAsked,
    OccurrenceAnswer,
    OccurrencePage,
    OneOfMany,
    Wish,
    Wishes,
)
from gnomon.client.executions.explaining import SHOWN_MAX
from gnomon.core.explain.obstacles import Obstacle
from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.time.schedule import DELAY_MAX
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.errors import IllegalTransition

_INPUT = json(
    "What this run gets in place of the payload of the job. Absent: that payload.", {"day": "2026-03-28"}
)
_NEW = flag("False if a live run has the same `unique_key`: then this is its id.", True)
_REASONS = parts("Every reason why it does not run now.", up_to=None)
_OF_TASKS = parts("Of each execution that waits, its reasons.", up_to=SHOWN_MAX)

FIELDS: Fields = {
    Wish: {
        "input": _INPUT,
        "priority": often.PRIORITY.but("Runs with a higher one start first. Null: that of the job."),
        "run_at": instant("Not before this instant, which has an offset. Null: now.", often.NEXT),
        "delay_seconds": seconds(
            "Not before so many seconds from now. Null: now.", 30, timedelta(0), DELAY_MAX
        ),
        "unique_key": often.UNIQUE_KEY,
    },
    Wishes: {"executions": parts("The runs to ask for, all or none.", up_to=BATCH_MAX)},
    Asked: {"execution_id": often.EXECUTION_ID, "run_id": often.RUN_ID, "is_new": _NEW},
    OneOfMany: {"execution_id": often.EXECUTION_ID, "is_new": _NEW},
    ManyAsked: {"executions": parts("The runs, in the order of the call.", up_to=BATCH_MAX)},
    OccurrenceAnswer: {
        "nominal_time": instant("The time that the schedule named.", often.NOMINAL),
        "nominal_until": instant(
            "The last time of a row that stands for several skipped ones.", often.NOMINAL
        ),
        "count": whole("For how many times the row stands.", 1, 1, 2**63 - 1),
        "outcome": word("What became of it.", "fired", OUTCOMES),
        "reason": word("Why it was skipped. Null: it fired.", "overlap", SkipReason),
        "execution_id": uuid("The run that it fired.", often.EXECUTION),
        "due": instant("When that run was to start: the nominal time and its jitter.", often.NOMINAL),
    },
    OccurrencePage: {
        "occurrences": parts("A page of times.", up_to=PAGE_LIMIT_MAX),
        "next_cursor": often.NEXT_CURSOR,
    },
    ReasonAnswer: {
        "code": word("The reason, for programs.", "not_due", Obstacle),
        "message": text("The reason, for people.", "It is not due before 2026-03-30T09:00:00Z.", up_to=None),
        "details": part("The numbers and names of the reason.").with_example({"due": often.NEXT}),
    },
    ExecutionReasons: {"execution_id": often.EXECUTION_ID, "reasons": _REASONS},
    ExecutionExplanation: {
        "execution_id": often.EXECUTION_ID,
        "reasons": _REASONS,
        "executions": _OF_TASKS.but("Of a run of a workflow: its tasks that wait, with their reasons."),
    },
    JobExplanation: {"job_id": often.JOB_ID, "reasons": _REASONS, "executions": _OF_TASKS},
}
CALLS: Calls = {
    "trigger_job": CallDescription(
        "Run a job",
        bodies={
            "Now": {},
            "With an input, at most one at a time": {
                "input": {"day": "2026-03-28"},
                "unique_key": "report-2026-03-28",
            },
            "In half a minute": {"delay_seconds": 30, "priority": 9},
        },
        refusals=(IllegalTransition,),
        takes_key=True,
    ),
    "trigger_many": CallDescription(
        "Run a job many times",
        bodies={"Two runs": {"executions": [{"input": {"page": 1}}, {"input": {"page": 2}}]}},
        refusals=(IllegalTransition,),
        takes_key=True,
    ),
    "list_executions_of_job": CallDescription("List the executions of a job", parameters=often.PERIOD),
    "list_occurrences": CallDescription("List the times of a job, and what became of each"),
    "explain_job": CallDescription("Explain why a job does not run"),
}
