-- In the order of ids, so that a batch of a worker and this one cannot wait for each other.
WITH found AS MATERIALIZED (
    SELECT execution_id FROM leases
    WHERE job_id = :job_id AND watched AND NOT in_run AND NOT cancel_requested
    ORDER BY execution_id
    FOR UPDATE
)
UPDATE leases SET cancel_requested = true FROM found WHERE leases.execution_id = found.execution_id
