-- From the ids to the queue, as in apply.sql.
WITH found AS MATERIALIZED (
    SELECT waiting.execution_id FROM unnest(:wanted.id::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT queue.execution_id FROM queue
        WHERE queue.execution_id = wanted.id AND queue.tenant_id = :tenant_id AND coalesce(queue.waits_for, '') <> 'tasks'
        FOR UPDATE
    ) AS waiting
), gone AS (
    DELETE FROM queue WHERE execution_id = ANY (ARRAY(SELECT found.execution_id FROM found))
    RETURNING execution_id, tenant_id, job_id, claim, attempts, due
), freed AS (
    DELETE FROM unique_keys WHERE execution_id = ANY (ARRAY(SELECT found.execution_id FROM found))
), told AS (
    @event('execution.cancelled' AS type)
    FROM gone WHERE @is_followed GROUP BY tenant_id
), ended AS (
    @ending('CANCELLED' AS outcome)
    FROM gone
)
-- Those of workflows: see runs_unbegun_add.sql.
SELECT gone.execution_id FROM gone JOIN dags ON dags.id = gone.job_id
