WITH gone AS (
    DELETE FROM queue
    WHERE job_id = :job_id AND watched AND execution_id <> ALL (:wanted.id::uuid[])
    RETURNING execution_id, tenant_id, claim, attempts, due
), freed AS (
    DELETE FROM unique_keys USING gone WHERE unique_keys.execution_id = gone.execution_id
)
INSERT INTO endings (execution_id, tenant_id, outcome, claim, attempts, due, finished_at)
SELECT execution_id, tenant_id, 'CANCELLED', claim, attempts, due, :now FROM gone
