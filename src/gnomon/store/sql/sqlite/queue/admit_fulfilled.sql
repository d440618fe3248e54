-- What they wait for has come true: on to the gate of the slots, or to the workers.
UPDATE queue
SET waits_for = (SELECT CASE WHEN slots IS NOT NULL THEN 'slot' END FROM jobs WHERE jobs.id = :job_id)
WHERE queue.waits_for = 'jobs' AND queue.execution_id IN (
    SELECT waiting.execution_id FROM queue AS waiting
    WHERE waiting.job_id = :job_id AND waiting.waits_for = 'jobs' AND NOT EXISTS (
        SELECT 1 FROM job_dependencies
        LEFT JOIN job_completions ON job_completions.job_id = job_dependencies.depends_on
        WHERE job_dependencies.job_id = :job_id
          AND (job_completions.completed_at IS NULL OR job_completions.completed_at <= waiting.newer_than))
    ORDER BY waiting.priority DESC, waiting.due, waiting.execution_id
    LIMIT :limit)
RETURNING waits_for
