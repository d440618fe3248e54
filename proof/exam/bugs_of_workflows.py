"""What runs of workflows can get wrong, for each of G1 to G7. `make sim-exam ONLY=workflow` plants them."""

from __future__ import annotations

from proof.exam.planting import Edit, bug

SQL = "store/sql/sqlite/"

BUGS = (
    # G1
    bug(
        "workflow: a task does not wait for all that it depends on",
        "core/workflows/trigger_rules.py",
        "    if left:\n        return Verdict.WAIT",
        "    if left and not (rule is TriggerRule.ALL_SUCCESS and succeeded):\n        return Verdict.WAIT",
    ),
    bug(
        "workflow: a fan-out is over with its first item",
        "core/runs/decisions.py",
        "    if not state.items_left:\n",
        "    if True:\n",
    ),
    # G2
    bug(
        "workflow: an end is told to the run by a later transaction",
        "store/runs/ends.py",
        "    await progress.take(await _ends(progress, accepted, write_set))",
        "    await _ends(progress, accepted, write_set)",
    ),
    bug(
        "workflow: a failure is told to the run by a later transaction",
        "store/runs/ends.py",
        "        if status is not None and one",
        "        if status is ExecutionStatus.COMPLETED and one",
    ),
    bug(
        "workflow: what is remembered of a run is believed",
        f"{SQL}runs/tasks_end.sql",
        " AND dag_runs.version = run_row.version",
        "",
    ),
    bug(
        "workflow: what is remembered of a run is believed when its next task is handed over",
        f"{SQL}runs/task_handover.sql",
        " AND dag_runs.version = :run_version",
        "",
    ),
    # G3
    bug(
        "workflow: one success waits for all others",
        "core/workflows/trigger_rules.py",
        "(rule is TriggerRule.ONE_SUCCESS and succeeded) or ",
        "",
    ),
    bug(
        "workflow: a join of branches does not look at failures",
        "core/workflows/trigger_rules.py",
        "return Verdict.BLOCK if failed else Verdict.RUN",
        "return Verdict.RUN",
    ),
    bug(
        "workflow: a skipped task counts as a success",
        "core/runs/state.py",
        "self.skipped + (ending is Ending.SKIP)",
        "self.skipped",
    ),
    bug(
        "workflow: what a failure blocks is always skipped",
        "core/runs/rows.py",
        "goes_on = self.plan.workflow.failure_strategy is FailureStrategy.CONTINUE",
        "goes_on = True",
    ),
    bug(
        "workflow: the first failure does not end the rest",
        "core/runs/rows.py",
        "if has_failed and strategy is FailureStrategy.FAIL_FAST and not self.is_stopping:",
        "if False:",
    ),
    # G4
    bug(
        "workflow: the results of a fan-out come in another order",
        f"{SQL}runs/task_results.sql",
        "ORDER BY 1, 2, 5, 3",
        "ORDER BY 1, 2, 5, 3 DESC",
    ),
    bug(
        "workflow: results of an earlier round are passed on",
        f"{SQL}runs/task_results.sql",
        "                   AND executions.round = wanted.round\n",
        "",
    ),
    bug(
        "workflow: an end that was refused moves the run",
        "store/runs/ends.py",
        "if one.claim not in ended.refused]",
        "]",
        Edit(
            f"{SQL}runs/runs_lock_of.sql",
            "JOIN leases ON leases.execution_id = held.execution_id AND leases.claim = held.claim",
            "JOIN leases ON leases.execution_id = held.execution_id",
        ),
    ),
    # G5
    bug(
        "workflow: a run with a cancelled task is completed",
        "core/runs/decisions.py",
        "if not run.failed + run.cancelled:",
        "if not run.failed:",
    ),
    bug(
        "workflow: a fan-out with a failed item is completed",
        "core/runs/decisions.py",
        "is_bad = bool(state.items_failed or state.items_cancelled)",
        "is_bad = bool(state.items_cancelled)",
    ),
    bug(
        "workflow: a partly failed run is completed, though nobody allowed it",
        "core/runs/decisions.py",
        "is_enough = plan.workflow.allow_partial_completion and run.completed",
        "is_enough = run.completed",
    ),
    # G6
    bug(
        "workflow: a cancel leaves in the queue what waits",
        "store/writes/stops.py",
        'rows = await session.fetch("run_waiting_end", run_id=run_id, now=now)',
        "rows: list[Row] = []",
        Edit(
            "store/writes/stops.py",
            'if not await session.fetch("run_remains", run_id=run_id):',
            "if True:",
        ),
    ),
    bug(
        "workflow: a cancel does not reach the runs inside",
        "store/writes/run_steps.py",
        'return [row["id"] for row in await session.fetch("runs_inside", run_id=run_id)]',
        "return []",
    ),
    bug(
        "workflow: a pause does not hold what waits in the queue",
        "core/runs/events.py",
        "return Gate.HOLD if self.is_held else Gate.LET_GO",
        "return None if self.is_held else Gate.LET_GO",
    ),
    bug(
        "workflow: a retry of a paused run is handed out",
        "store/runs/ends.py",
        "progress.runs[run_id].state.status is RunStatus.PAUSED:",
        "False:",
    ),
    # G7
    bug(
        "workflow: a run goes by the revision that was known first",
        "store/workflows/plans.py",
        "plan = self._known.get((dag_id, base))",
        "plan = next((one for (dag, _), one in self._known.items() if dag == dag_id), None)",
    ),
    bug(
        "workflow: a run begins with the revision of the day",
        f"{SQL}runs/run_take.sql",
        "queue.revision, queue.nominal_time,",
        "(SELECT revision FROM jobs WHERE jobs.id = queue.job_id) AS revision, queue.nominal_time,",
    ),
    # What is claimed with an end
    bug(
        "workflow: what was claimed with an end is forgotten when no answer comes",
        "engine/workers/slots.py",
        "            self.asked = Asked.BY_WORKER\n        self.to_fill.set()",
        "            self.request, self.asked = None, Asked.NOT\n        self.to_fill.set()",
        caught_by="tests/integration/engine/test_handovers.py",
    ),
    bug(
        "workflow: what follows a task is handed out twice",
        "engine/workers/worker.py",
        "return not slots.is_asked_by_completer and (",
        "return (",
        caught_by="tests/integration/engine/test_handovers.py",
    ),
    # C7 and V3
    bug(
        "workflow: a run begins beside those that it replaces",
        "store/runs/runs.py",
        '            if row["watched"]:\n',
        "            if False:\n",
    ),
    bug(
        "workflow: a run is not let go on when somebody resumes it",
        "core/runs/events.py",
        "return Gate.HOLD if self.is_held else Gate.LET_GO",
        "return Gate.HOLD if self.is_held else None",
    ),
)
