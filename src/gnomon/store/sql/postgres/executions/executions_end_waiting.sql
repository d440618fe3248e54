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
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, 'execution.cancelled', :now, array_agg(execution_id)
    FROM gone WHERE EXISTS (SELECT 1 FROM event_followers) GROUP BY tenant_id
), ended AS (
    INSERT INTO endings (execution_id, tenant_id, outcome, claim, attempts, due, finished_at)
    SELECT execution_id, tenant_id, 'CANCELLED', claim, attempts, due, :now FROM gone
)
-- Those of workflows: see runs_unbegun_add.sql.
SELECT gone.execution_id FROM gone JOIN dags ON dags.id = gone.job_id
