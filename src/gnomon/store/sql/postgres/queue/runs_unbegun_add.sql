-- Runs of workflows among executions that ended while they waited: the history of their workflow knows of them, and so
-- does their backfill.
WITH noted AS (
    INSERT INTO dag_runs (id, tenant_id, dag_id, base, status, unended, live, halted, completed, failed, cancelled,
                          is_paused, config, nesting, outer_run_id, outer_task, outer_round, nominal_time, has_tasks,
                          started_at, finished_at)
    SELECT executions.id, executions.tenant_id, executions.job_id, executions.revision, 'CANCELLED', 0, 0, 0, 0, 0,
           dag_revisions.tasks, false, coalesce(executions.input, '{}'), 0, executions.dag_run_id, executions.task,
           executions.round, executions.nominal_time, false, :now, :now
    FROM unnest(:wanted.id::uuid[]) AS wanted (id)
    JOIN executions ON executions.id = wanted.id
    JOIN dag_revisions ON dag_revisions.dag_id = executions.job_id AND dag_revisions.base = executions.revision
    RETURNING id
)
UPDATE backfill_times SET state = 'CANCELLED'
WHERE execution_id = ANY (ARRAY(SELECT id FROM noted)) AND state = 'RUNNING'
