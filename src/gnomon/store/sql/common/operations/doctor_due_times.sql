SELECT id AS job_id
FROM jobs
WHERE status = 'ACTIVE' AND next_run_time < :before
ORDER BY next_run_time, id
LIMIT :limit
