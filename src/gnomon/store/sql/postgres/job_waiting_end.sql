WITH gone AS (
    DELETE FROM queue WHERE job_id = :job_id AND tenant_id = :tenant_id
    RETURNING execution_id, claim, attempts
), freed AS (
    DELETE FROM unique_keys USING gone WHERE unique_keys.execution_id = gone.execution_id
)
UPDATE executions
SET outcome = 'CANCELLED', finished_at = :now, claim = gone.claim, attempts = gone.attempts
FROM gone
WHERE executions.id = gone.execution_id
