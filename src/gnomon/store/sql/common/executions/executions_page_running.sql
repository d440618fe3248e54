-- What a worker has, and runs of workflows that wait for their tasks: each from the small table that holds it.
SELECT * FROM (
    SELECT * FROM current_executions
    WHERE tenant_id = :tenant_id AND id < :after AND id >= :first AND (CAST(:any_job AS boolean) OR job_id = :job_id)
      AND is_leased
    ORDER BY id DESC
    LIMIT :limit
) AS leased
UNION ALL
SELECT * FROM (
    SELECT * FROM current_executions
    WHERE tenant_id = :tenant_id AND id < :after AND id >= :first AND (CAST(:any_job AS boolean) OR job_id = :job_id)
      AND is_waiting AND waits_for = 'tasks'
    ORDER BY id DESC
    LIMIT :limit
) AS under_way
ORDER BY id DESC
LIMIT :limit
