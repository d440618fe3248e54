-- As many as there are free slots. Taken is what runs, and what was let in and waits for a worker; both in one
-- statement, so an execution on its way from one to the other is counted once.
-- A row of queue is updated only while it waits at a gate: claim.sql deletes the others by their place.
-- SKIP LOCKED: who holds such a row ends it, and may wait for another one that we would hold.
WITH passing AS MATERIALIZED (
    SELECT waiting.execution_id FROM queue AS waiting
    WHERE waiting.job_id = :job_id AND waiting.waits_for = 'slot' AND waiting.due <= :now
    ORDER BY waiting.priority DESC, waiting.due, waiting.execution_id
    LIMIT (
        SELECT CASE WHEN slots IS NULL OR slots - taken > :limit THEN :limit
                    ELSE greatest(slots - taken, 0) END
        FROM (
            SELECT jobs.slots,
                   (SELECT count(*) FROM leases WHERE leases.job_id = :job_id AND leases.watched)
                   + (SELECT count(*) FROM queue AS ready
                      WHERE ready.job_id = :job_id AND ready.watched
                        AND (ready.waits_for IS NULL OR ready.waits_for IN ('tasks', 'empty_worker'))) AS taken
            FROM jobs WHERE jobs.id = :job_id
        ) AS room)
    FOR UPDATE SKIP LOCKED
)
UPDATE queue SET waits_for = CASE WHEN queue.crashes > 0 THEN 'empty_worker' END
FROM passing
WHERE queue.execution_id = passing.execution_id AND queue.waits_for = 'slot'
RETURNING queue.waits_for
