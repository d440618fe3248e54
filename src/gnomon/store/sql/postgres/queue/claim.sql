-- MATERIALIZED fences the planner: without it a nested loop may lock more rows than LIMIT.
WITH picked AS MATERIALIZED (
    @first_in_queue
), requested AS (
    @request_once
), gone AS (
    -- By place: the rows are locked by this statement, so none of them can have moved.
    DELETE FROM queue WHERE ctid = ANY (ARRAY(SELECT queue_row FROM picked))
), leased AS (
    @lease(claim + 1 AS claim, attempts, crashes, watched, awaited, in_run)
    FROM picked
), told AS (
    @event('execution.started' AS type)
    FROM picked WHERE @is_followed GROUP BY tenant_id
)
SELECT picked.execution_id, picked.job_id, picked.revision, picked.priority, picked.due,
       picked.nominal_time, picked.claim + 1 AS claim, picked.attempts, picked.crashes, executions.input
FROM picked JOIN executions ON executions.id = picked.execution_id
ORDER BY picked.priority DESC, picked.due, picked.execution_id
