-- The newest runs of each of some jobs, in few words. No view: this is read with every look at a job. The tenant is
-- asked about outside, as in executions_page_of_job.
SELECT recent.id, recent.job_id, endings.outcome, endings.finished_at,
       coalesce(endings.worker, leases.worker) AS worker, coalesce(endings.started_at, leases.started_at) AS started_at,
       coalesce(endings.attempts, leases.attempts, 0) AS attempts, leases.execution_id IS NOT NULL AS is_leased,
       -- Of the few that wait. Not a join, which would look for all the others, too.
       CASE WHEN endings.execution_id IS NULL AND leases.execution_id IS NULL THEN (
           SELECT queue.due FROM queue WHERE queue.execution_id = recent.id) END AS due
FROM wanted CROSS JOIN executions AS recent ON recent.id IN (
    SELECT executions.id FROM executions
    WHERE executions.job_id = wanted.id
    ORDER BY executions.id DESC
    LIMIT :limit)
LEFT JOIN endings ON endings.execution_id = recent.id
LEFT JOIN leases ON leases.execution_id = recent.id
WHERE recent.tenant_id = :tenant_id
ORDER BY recent.job_id, recent.id DESC
