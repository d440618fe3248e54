"""Schedules: what a call says of one, what an answer shows, and what is previewed."""

from __future__ import annotations

from datetime import timedelta

from gnomon.api.described.call import CallDescription, Calls
from gnomon.api.described.field import (
    Fields,
    Rows,
    count,
    instant,
    name,
    part,
    parts,
    seconds,
    text,
    whole,
    word,
)
from gnomon.api.described.resources.recurring import EARLIER, NEXT, NOMINAL
from gnomon.api.forms.schedule_forms import IF_PAST, JOB_TYPES, NestedSchedule, Times
from gnomon.api.resources.schedules import Fire, Fires, PreviewForm
from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.schedules.preview import PREVIEW_LIMIT_MAX
from gnomon.core.time import schedule
from gnomon.core.time.cron import EXPRESSION_CHARS_MAX
from gnomon.core.time.dst import Fold, Gap
from gnomon.core.time.schedule import Misfire, Overlap
from gnomon.core.time.schedule_document import TYPES
from gnomon.errors import CalendarNotFound, InvalidCron, InvalidTimezone

_ZERO = timedelta(0)
_CRON = "0 9 * * MON-FRI"
CRON = text(
    "A cron expression: five fields, six with the second first, or seven with the year last; or "
    "`@daily` and its "
    "kin. Read in the zone of `timezone`.",
    _CRON,
    up_to=EXPRESSION_CHARS_MAX,
    low=1,
)
TIMEZONE = name("The IANA time zone in which the expression is read. Default: `UTC`.", "Europe/Berlin")
GAP = word(
    "What becomes of a civil time that does not exist because clocks go forward. Default: `shift`.",
    "shift",
    Gap,
)
FOLD = word(
    "Which instant of a civil time that happens twice because clocks go back. Default: `first`.",
    "first",
    Fold,
)
EVERY = seconds(
    "Seconds from one time to the next, without drift.", 900, schedule.INTERVAL_MIN, schedule.INTERVAL_MAX
)
ANCHOR = instant(
    "Where an interval is counted from. Default: `start_at`, else the creation of the job.", EARLIER
)
RUN_AT = instant("The one time at which it runs, with an offset.", NEXT)
DELAY = seconds("Runs once, so many seconds after its creation.", 30, _ZERO, schedule.DELAY_MAX)
TYPE = word(
    "The kind of schedule, in any case. `RECURRING` is `INTERVAL`, `ONCE` is `ONE_TIME`. Absent: "
    "it follows from the "
    "other fields.",
    "CRON",
    [*JOB_TYPES.values(), *TYPES],
)
LIMIT = whole("How many times to show.", 10, 1, PREVIEW_LIMIT_MAX)

_BOUNDS: Rows = {
    "start_at": instant("No time before this instant belongs to the schedule.", EARLIER),
    "end_at": instant("No time after this instant belongs to the schedule.", "2027-03-28T08:00:00Z"),
    "max_runs": whole("The job is `COMPLETED` after so many fires.", 100, 1, schedule.RUNS_MAX),
    "jitter_seconds": seconds(
        "Each run starts up to so many seconds late; how late is fixed for each time. Default: 0.",
        0,
        _ZERO,
        schedule.JITTER_MAX,
    ),
    "calendar": name("A calendar of dates on which it does not fire. Null: none.", "holidays"),
    "misfire_policy": word(
        "What becomes of times that are older than the grace time when a scheduler comes to "
        "them, such as after "
        "downtime. Default: `FIRE_NOW`, the latest missed time runs once.",
        "FIRE_NOW",
        Misfire,
    ),
    "misfire_grace_seconds": seconds(
        "How late a time may be and still fire as usual. Default: 60.",
        60,
        _ZERO,
        schedule.MISFIRE_GRACE_MAX,
    ),
    "catchup_limit": whole(
        "With `FIRE_ALL`: how many missed times run at most. Default: 100.",
        100,
        1,
        schedule.CATCHUP_LIMIT_MAX,
    ),
    "catchup_window_seconds": seconds(
        "With `FIRE_ALL`: missed times that are older than this do not run. Null: any age.",
        86_400,
        schedule.INTERVAL_MIN,
        schedule.CATCHUP_WINDOW_MAX,
    ),
    "overlap_policy": word(
        "What a fire does while an earlier run of the job is live. Default: `allow`.", "allow", Overlap
    ),
}
_SHOWN: Rows = {
    "type": word("The kind of schedule.", "cron", JOB_TYPES),
    "cron": CRON.but("The cron expression.").if_any(),
    "timezone": TIMEZONE.but("The time zone of the expression.").if_any(),
    "gap": GAP.if_any(),
    "fold": FOLD.if_any(),
    "interval_seconds": EVERY.if_any(),
    "anchor": ANCHOR.if_any(),
    "run_at": RUN_AT.if_any(),
    "delay_seconds": DELAY.if_any(),
    **{key: row.if_any() for key, row in _BOUNDS.items()},
}
_OTHER_WORDS: Rows = {
    "expression": CRON.but("The same as `cron`."),
    "every_seconds": EVERY.but("The same as `interval_seconds`."),
    "at": RUN_AT.but("The same as `run_at`."),
}
SHAPES: dict[str, Rows] = {
    "Schedule": _SHOWN,
    "DagSchedule": {
        **_SHOWN,
        "type": TYPE.if_any(),
        **{key: row.if_any() for key, row in _OTHER_WORDS.items()},
    },
    "JobSchedule": {
        **_SHOWN,
        "expression": CRON.but("The same as `cron`. Null unless it is a cron schedule.").or_null(),
        "next_run": instant("The same as `next_run_time` of the job.", NEXT).or_null(),
    },
}

FIELDS: Fields = {
    Times: {
        "cron": CRON,
        "timezone": TIMEZONE,
        "gap": GAP,
        "fold": FOLD,
        "interval_seconds": EVERY,
        "anchor": ANCHOR,
        "run_at": RUN_AT,
        "delay_seconds": DELAY,
        **_BOUNDS,
        "if_past": word(
            "What to do with a `run_at` that has passed: `run_now` or `skip`. Without it, one "
            "that has passed for "
            "longer than the grace time is refused.",
            "run_now",
            IF_PAST,
        ),
    },
    NestedSchedule: {"type": TYPE, **_OTHER_WORDS},
    PreviewForm: {
        "job_type": TYPE.but("The same as `type`."),
        "type": TYPE,
        "cron_expression": CRON.but("The same as `cron`."),
        "expression": CRON.but("The same as `cron`."),
        "schedule": part("The schedule as an object. Its fields may stand beside it as well; say each once."),
        "name": text(
            "The name that the job will have: an `H` in the expression is spread by it.",
            "nightly-report",
            up_to=None,
        ),
        "limit": LIMIT,
    },
    Fire: {
        "nominal_time": instant("The time that the schedule names.", NOMINAL),
        "local_time": text(
            "The same in the time zone of the schedule.", "2026-03-29T11:00:00+02:00", up_to=25, low=25
        ),
        "utc_offset": text(
            "The offset of that zone at this time.", "+02:00", pattern=r"^[+-][0-9]{2}:[0-9]{2}$"
        ),
        "note": text("What a change of the clocks does to this time.", "shifted out of a gap", up_to=None),
        "skip": word("Why it will not fire. Null: it will.", "calendar", SkipReason),
    },
    Fires: {"fires": parts("The next times, in order.", up_to=PREVIEW_LIMIT_MAX)},
}
CALLS: Calls = {
    "preview_schedule": CallDescription(
        "Preview a schedule",
        bodies={
            "Weekdays at nine in Berlin": {"cron": _CRON, "timezone": "Europe/Berlin", "limit": 5},
            "Every quarter of an hour, nested": {"schedule": {"type": "interval", "every_seconds": 900}},
        },
        refusals=(InvalidCron, InvalidTimezone, CalendarNotFound),
    ),
    "preview_job": CallDescription(
        "Preview a job", parameters={"limit": LIMIT}, refusals=(CalendarNotFound,)
    ),
}
FIRES = count("How often its schedule has fired.", 42)
