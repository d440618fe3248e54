-- A run that has not begun has no row of its own yet: then its execution tells all there is to know.
SELECT executions.id, executions.tenant_id, executions.job_id AS dag_id, executions.revision AS base,
       executions.created_at, executions.nominal_time, executions.due, executions.trigger,
       executions.dag_run_id, dag_revisions.revision, dag_runs.status, dag_runs.unended, dag_runs.live,
       dag_runs.halted, dag_runs.completed, dag_runs.failed, dag_runs.cancelled, dag_runs.is_paused,
       dag_runs.ends_as, coalesce(dag_runs.config, executions.input) AS config, dag_runs.nesting,
       CASE WHEN dag_runs.has_tasks THEN dag_runs.started_at END AS started_at, dag_runs.finished_at, endings.outcome,
       endings.finished_at AS completed_at, endings.failure_kind, endings.failure_message,
       dag_revisions.tasks, backfill_times.backfill_id
FROM executions
JOIN dag_revisions ON dag_revisions.dag_id = executions.job_id AND dag_revisions.base = executions.revision
LEFT JOIN dag_runs ON dag_runs.id = executions.id
LEFT JOIN endings ON endings.execution_id = executions.id
LEFT JOIN backfill_times ON backfill_times.execution_id = executions.id
WHERE executions.id = :run_id AND executions.tenant_id = :tenant_id
