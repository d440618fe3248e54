-- In the order of ids, so that a batch that cancels and this one cannot wait for each other.
WITH found AS MATERIALIZED (
    SELECT execution_id FROM queue
    WHERE job_id = :job_id AND watched AND coalesce(waits_for, '') <> 'tasks' AND execution_id <> ALL (:wanted.id::uuid[])
    ORDER BY execution_id
    FOR UPDATE
), gone AS (
    DELETE FROM queue USING found WHERE queue.execution_id = found.execution_id
    RETURNING queue.execution_id, tenant_id, claim, attempts, due
), freed AS (
    DELETE FROM unique_keys USING gone WHERE unique_keys.execution_id = gone.execution_id
), told AS (
    @event('execution.cancelled' AS type)
    FROM gone WHERE @is_followed GROUP BY tenant_id
), ended AS (
    @ending('CANCELLED' AS outcome)
    FROM gone
)
-- Those of workflows: see runs_unbegun_add.sql.
SELECT execution_id FROM gone WHERE EXISTS (SELECT 1 FROM dags WHERE dags.id = :job_id)
