-- A run that had ended goes on: its execution waits for its tasks again.
WITH gone AS (
    DELETE FROM endings WHERE execution_id = :run_id
    RETURNING execution_id, due, claim, attempts
)
INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, claim,
                   attempts, watched, awaited, waits_for)
SELECT executions.id, executions.tenant_id, executions.job_id, executions.revision, job_revisions.lane_id,
       executions.priority, gone.due, executions.nominal_time, gone.claim, gone.attempts,
       jobs.watched AND backfill_times.execution_id IS NULL,
       jobs.awaited AND backfill_times.execution_id IS NULL, 'tasks'
FROM gone
JOIN executions ON executions.id = gone.execution_id
JOIN job_revisions ON job_revisions.job_id = executions.job_id AND job_revisions.revision = executions.revision
JOIN jobs ON jobs.id = executions.job_id
LEFT JOIN backfill_times ON backfill_times.execution_id = executions.id
RETURNING execution_id
