-- In the order of ids, so that a batch of a worker and this one cannot wait for each other.
WITH found AS MATERIALIZED (
    SELECT execution_id FROM leases
    WHERE job_id = :job_id AND NOT in_run AND NOT (watched AND (awaited OR NOT :awaited::boolean))
    ORDER BY execution_id
    FOR UPDATE
)
UPDATE leases SET watched = true, awaited = leases.awaited OR :awaited
FROM found WHERE leases.execution_id = found.execution_id
