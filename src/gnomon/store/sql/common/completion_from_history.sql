-- From the newest ones, and not from all there ever were: a job may have run a million times.
INSERT INTO job_completions (job_id, tenant_id, completed_at)
SELECT job_id, tenant_id, max(finished_at)
FROM (
    SELECT executions.job_id, executions.tenant_id, endings.outcome, endings.finished_at
    FROM executions JOIN endings ON endings.execution_id = executions.id
    -- A range of one: as an equal sign it would let the planner walk over all jobs, in the order of ids.
    WHERE executions.job_id BETWEEN :job_id AND :job_id
    ORDER BY executions.job_id DESC, executions.id DESC
    LIMIT :limit
) AS latest
WHERE outcome = 'COMPLETED'
GROUP BY job_id, tenant_id
ON CONFLICT (job_id) DO NOTHING
