INSERT INTO dag_runs (id, tenant_id, dag_id, base, status, unended, live, halted, completed, failed, cancelled,
                      is_paused, config, nesting, outer_run_id, outer_task, outer_round, nominal_time, has_tasks,
                      started_at, finished_at)
SELECT executions.id, executions.tenant_id, executions.job_id, executions.revision, 'CANCELLED', 0, 0, 0, 0, 0,
       dag_revisions.tasks, 0, coalesce(executions.input, '{}'), 0, executions.dag_run_id, executions.task,
       executions.round, executions.nominal_time, 0, :now, :now
FROM executions
JOIN dag_revisions ON dag_revisions.dag_id = executions.job_id AND dag_revisions.base = executions.revision
WHERE executions.id IN (SELECT id FROM wanted);

UPDATE backfill_times SET state = 'CANCELLED'
WHERE execution_id IN (SELECT id FROM wanted) AND state = 'RUNNING'
