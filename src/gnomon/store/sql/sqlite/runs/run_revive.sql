INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, claim,
                   attempts, watched, awaited, waits_for)
SELECT executions.id, executions.tenant_id, executions.job_id, executions.revision, job_revisions.lane_id,
       executions.priority, endings.due, executions.nominal_time, endings.claim, endings.attempts,
       jobs.watched AND backfill_times.execution_id IS NULL,
       jobs.awaited AND backfill_times.execution_id IS NULL, 'tasks'
FROM endings
JOIN executions ON executions.id = endings.execution_id
JOIN job_revisions ON job_revisions.job_id = executions.job_id AND job_revisions.revision = executions.revision
JOIN jobs ON jobs.id = executions.job_id
LEFT JOIN backfill_times ON backfill_times.execution_id = executions.id
WHERE endings.execution_id = :run_id
RETURNING execution_id;

DELETE FROM endings WHERE execution_id = :run_id
