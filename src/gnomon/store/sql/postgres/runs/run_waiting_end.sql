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
    @event('execution.cancelled' AS type)
    FROM gone WHERE @is_followed GROUP BY tenant_id
), ended AS (
    @ending('CANCELLED' AS outcome)
    FROM gone
)
SELECT execution_id, task, round, item FROM gone
