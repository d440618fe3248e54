-- Moved, not updated: see watch_waiting.sql. The tasks of the run are found first, and their rows of the queue by key: without
-- statistics, PostgreSQL takes the index of all that waits for a short list. The coalesce keeps it from that.
WITH found AS MATERIALIZED (
    SELECT queue.execution_id
    FROM queue JOIN executions ON executions.id = queue.execution_id
    WHERE executions.dag_run_id = :run_id AND queue.in_run AND coalesce(queue.waits_for, 'empty_worker') = 'empty_worker'
    ORDER BY queue.execution_id
    FOR UPDATE OF queue
), moved AS (
    DELETE FROM queue USING found WHERE queue.execution_id = found.execution_id
    RETURNING queue.*
)
@waiting(nominal_time, claim, attempts, crashes, 'approval' AS waits_for, in_run)
FROM moved
