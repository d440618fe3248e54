-- The tenant is asked about outside, as in executions_page_of_job.
SELECT * FROM (
    SELECT * FROM dead_letters
    WHERE job_id = :job_id AND execution_id < :after
    ORDER BY execution_id DESC
    LIMIT :limit
) AS of_job
WHERE tenant_id = :tenant_id
ORDER BY execution_id DESC
