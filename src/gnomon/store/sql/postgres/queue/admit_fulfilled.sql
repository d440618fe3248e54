-- What they wait for has come true: on to the gate of the slots, or to the workers.
-- A row of queue is updated only while it waits at a gate: claim.sql deletes the others by their place.
-- SKIP LOCKED: who holds such a row ends it, and may wait for another one that we would hold.
WITH passing AS MATERIALIZED (
    SELECT waiting.execution_id FROM queue AS waiting
    WHERE waiting.job_id = :job_id AND waiting.waits_for = 'jobs' AND NOT EXISTS (
        SELECT FROM job_dependencies
        LEFT JOIN job_completions ON job_completions.job_id = job_dependencies.depends_on
        WHERE job_dependencies.job_id = :job_id
          AND (job_completions.completed_at IS NULL OR job_completions.completed_at <= waiting.newer_than))
    ORDER BY waiting.priority DESC, waiting.due, waiting.execution_id
    LIMIT :limit
    FOR UPDATE SKIP LOCKED
)
UPDATE queue
SET waits_for = (SELECT CASE WHEN slots IS NOT NULL THEN 'slot' END FROM jobs WHERE jobs.id = :job_id)
FROM passing
WHERE queue.execution_id = passing.execution_id AND queue.waits_for = 'jobs'
RETURNING queue.waits_for
