@waiting(executions.id AS execution_id, executions.tenant_id AS tenant_id, executions.job_id AS job_id,
         executions.revision AS revision, job_revisions.lane_id AS lane_id, executions.priority AS priority,
         endings.due AS due, executions.nominal_time AS nominal_time, endings.claim AS claim,
         endings.attempts AS attempts, 'tasks' AS waits_for,
         jobs.watched AND backfill_times.execution_id IS NULL AS watched,
         jobs.awaited AND backfill_times.execution_id IS NULL AS awaited)
FROM endings
JOIN executions ON executions.id = endings.execution_id
JOIN job_revisions ON job_revisions.job_id = executions.job_id AND job_revisions.revision = executions.revision
JOIN jobs ON jobs.id = executions.job_id
LEFT JOIN backfill_times ON backfill_times.execution_id = executions.id
WHERE endings.execution_id = :run_id
RETURNING execution_id;

DELETE FROM endings WHERE execution_id = :run_id
