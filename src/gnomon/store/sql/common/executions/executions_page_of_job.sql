-- The tenant is asked about outside: inside, its index looks as good as that of the job, and is read whole for
-- a job that never ran.
SELECT * FROM (
    SELECT * FROM current_executions
    WHERE job_id = :job_id AND id < :after AND id >= :first
      AND (CAST(:outcome AS text) IS NULL OR outcome = CAST(:outcome AS text))
    ORDER BY id DESC
    LIMIT :limit
) AS of_job
WHERE tenant_id = :tenant_id
ORDER BY id DESC
