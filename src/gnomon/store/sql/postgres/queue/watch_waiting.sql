-- Moved, not updated: claim.sql deletes by place, and a row that is updated has moved. A claim that has locked
-- the row wins, and one that comes too late finds it gone and takes it next time. But a run that has begun is
-- never claimed, and runs_end.sql, which may wait for this row, must find it: an update it follows.
-- Runs of a backfill stay as they are: it has slots of its own.
-- In the order of ids, so that a batch that cancels and this one cannot wait for each other.
WITH found AS MATERIALIZED (
    SELECT execution_id FROM queue
    WHERE job_id = :job_id AND NOT in_run AND NOT (watched AND (awaited OR NOT :awaited::boolean))
      AND NOT EXISTS (SELECT 1 FROM backfill_times WHERE backfill_times.execution_id = queue.execution_id)
    ORDER BY execution_id
    FOR UPDATE
), marked AS (
    UPDATE queue SET watched = true, awaited = queue.awaited OR :awaited
    FROM found WHERE queue.execution_id = found.execution_id AND queue.waits_for = 'tasks'
), moved AS (
    DELETE FROM queue USING found
    WHERE queue.execution_id = found.execution_id AND queue.waits_for IS DISTINCT FROM 'tasks'
    RETURNING queue.*
)
@waiting(nominal_time, claim, attempts, crashes, waits_for, newer_than, true AS watched,
         awaited OR :awaited AS awaited)
FROM moved
