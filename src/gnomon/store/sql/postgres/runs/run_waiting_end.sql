WITH found AS MATERIALIZED (
    SELECT queue.execution_id, executions.task, executions.round, executions.item
    FROM queue JOIN executions ON executions.id = queue.execution_id
    WHERE executions.dag_run_id = :run_id AND coalesce(queue.waits_for, '') <> 'tasks'
    ORDER BY queue.execution_id
    FOR UPDATE OF queue
), gone AS (
    DELETE FROM queue USING found WHERE queue.execution_id = found.execution_id
    RETURNING queue.execution_id, tenant_id, claim, attempts, due, task, round, item
), told AS (
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, 'execution.cancelled', :now, array_agg(execution_id)
    FROM gone WHERE EXISTS (SELECT 1 FROM event_followers) GROUP BY tenant_id
), ended AS (
    INSERT INTO endings (execution_id, tenant_id, outcome, claim, attempts, due, finished_at)
    SELECT execution_id, tenant_id, 'CANCELLED', claim, attempts, due, :now FROM gone
)
SELECT execution_id, task, round, item FROM gone
