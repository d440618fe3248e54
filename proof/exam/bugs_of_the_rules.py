"""What decisions can get wrong: counting, policies and calendars."""

from __future__ import annotations

from proof.exam.planting import bug

LIFECYCLE = "core/executions/lifecycle.py"

BUGS = (
    bug(
        "a failure is not charged",
        LIFECYCLE,
        "leased, AttemptOutcome.FAILED, attempts=leased.attempt,",
        "leased, AttemptOutcome.FAILED, attempts=leased.attempts,",
    ),
    bug(
        "a timeout is not charged",
        LIFECYCLE,
        "AttemptOutcome.TIMEOUT, attempts=leased.attempt,",
        "AttemptOutcome.TIMEOUT, attempts=leased.attempts,",
    ),
    bug(
        "an expiry is not charged",
        LIFECYCLE,
        "AttemptOutcome.EXPIRED, attempts=leased.attempt, due=now",
        "AttemptOutcome.EXPIRED, attempts=leased.attempts, due=now",
    ),
    bug(
        "a drain is charged",
        LIFECYCLE,
        "return _again(leased, outcome, attempts=leased.attempts, due=due, failure=lacks, crashes=crashes)",
        "return _again(leased, outcome, attempts=leased.attempt, due=due, failure=lacks, crashes=crashes)",
    ),
    bug(
        "one attempt too many",
        LIFECYCLE,
        "return leased.attempt >= leased",
        "return leased.attempt > leased",
    ),
    bug(
        "a permanent failure is tried again",
        LIFECYCLE,
        "if permanent or not",
        "if not",
        caught_by="tests/unit/core/test_lifecycle.py",
    ),
    bug(
        "a crash loop never ends",
        LIFECYCLE,
        "if crashes >= leased.revision.definition.retry.crash_limit:",
        "if False:",
        caught_by="tests/unit/core/test_lifecycle.py",
    ),
    bug(
        "a worker that lacks what a suspect needs clears it",
        LIFECYCLE,
        "crashes = 0 if has_started else leased.crashes",
        "crashes = 0 if has_started or lacks is not None else leased.crashes",
        caught_by="tests/unit/core/test_lifecycle.py",
    ),
    bug(
        "a worker that gives a suspect back before it began clears it",
        LIFECYCLE,
        "crashes = 0 if has_started else leased.crashes",
        "crashes = 0 if lacks is None else leased.crashes",
        caught_by="tests/unit/core/test_lifecycle.py",
    ),
    bug(
        "a suspect is claimed beside others",
        "core/executions/gates.py",
        "return WaitsFor.EMPTY_WORKER if crashes else None",
        "return None",
    ),
    bug(
        "at most once, but again after a crash",
        LIFECYCLE,
        "    if leased.revision.definition.delivery is Delivery.AT_MOST_ONCE:\n        dead = DeadReason",
        "    if False:\n        dead = DeadReason",
    ),
    bug(
        "at most once, but again after a failure",
        LIFECYCLE,
        "if definition.delivery is Delivery.AT_MOST_ONCE or _is_used_up(leased):",
        "if _is_used_up(leased):",
    ),
    bug(
        "at most once, but again after a drain",
        LIFECYCLE,
        "if has_started and leased.revision",
        "if False and leased.revision",
    ),
    bug(
        "a retry after a cancel",
        LIFECYCLE,
        "    if leased.cancel_requested:\n        # Whatever went wrong",
        "    if False:\n        # Whatever went wrong",
        caught_by="tests/unit/core/test_lifecycle.py",
    ),
    bug(
        "the first retry waits as long as the second",
        "core/jobs/retry.py",
        "min(attempts - 1, _POWER_MAX)",
        "min(attempts, _POWER_MAX)",
    ),
    bug("a retry waits for too short a time", "core/jobs/retry.py", "2 * jitter - 1)", "2 * jitter - 3)"),
    bug(
        "one catch-up too few",
        "core/schedules/misfire.py",
        "in range(schedule.catchup_limit):",
        "in range(schedule.catchup_limit - 1):",
        caught_by="tests/unit/core/test_misfire.py",
    ),
    bug(
        "what is late is missed, whatever the grace",
        "core/schedules/misfire.py",
        "missed_before = now - schedule.misfire_grace",
        "missed_before = now",
    ),
    bug(
        "nothing is ever missed",
        "core/schedules/misfire.py",
        "return tick.at < self.missed_before",
        "return False",
    ),
    bug(
        "the window of a catch-up has no end",
        "core/schedules/misfire.py",
        "first=max(first, window_from or first), now=now)",
        "first=first, now=now)",
        caught_by="tests/unit/core/test_firing_reference.py",
    ),
    bug("a paused job fires", "core/schedules/misfire.py", "        if self.paused:", "        if False:"),
    bug(
        "a job fires on a day that is closed",
        "core/schedules/misfire.py",
        "        if self.closed.excludes(tick.at):\n            return SkipReason.CALENDAR",
        "        if False:\n            return SkipReason.CALENDAR",
    ),
    bug(
        "an interval does not count anew",
        "core/schedules/firing.py",
        "anew = replace(ticks, origin=now).after(now)",
        "anew = ticks.after(now)",
    ),
    bug(
        "a fire replaces nothing",
        "core/schedules/firing.py",
        "replaces=job.definition.schedule.overlap is Overlap.REPLACE and self.fires > job.fires",
        "replaces=False",
        caught_by="tests/unit/core/test_firing.py",
    ),
    bug(
        "an overlap is not skipped",
        "core/schedules/overlap.py",
        "        case Overlap.SKIP:\n            return Entry.SKIP",
        "        case Overlap.SKIP:\n            return Entry.RUN",
    ),
    bug(
        "a fire too many when runs are counted",
        "core/time/nominal.py",
        "fires >= schedule.max_runs",
        "fires > schedule.max_runs",
    ),
    bug(
        "the policy for gaps is the other one",
        "core/time/dst.py",
        "if self.gap == Gap.SKIP or",
        "if self.gap == Gap.SHIFT or",
        caught_by="tests/unit/core/test_dst.py",
    ),
    bug(
        "a time that comes twice fires the second time",
        "core/time/dst.py",
        "            case Fold.FIRST:\n                return (utc - fold.before,)",
        "            case Fold.FIRST:\n                return (utc - fold.after,)",
        caught_by="tests/unit/core/test_dst.py",
    ),
    bug(
        "an interval leaves out a time",
        "core/time/nominal.py",
        "Tick(self.origin + ((instant - self.origin) // every + 1) * every)",
        "Tick(self.origin + ((instant - self.origin) // every + 2) * every)",
    ),
)
