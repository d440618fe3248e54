-- From one job to the next in the index, not from row to row: ten thousand that wait for one job are one step.
WITH RECURSIVE gated (job_id, place) AS (
    SELECT (SELECT queue.job_id FROM queue
            WHERE queue.waits_for IS NOT NULL AND queue.job_id > :after ORDER BY queue.job_id LIMIT 1), 1
    UNION ALL
    SELECT (SELECT queue.job_id FROM queue
            WHERE queue.waits_for IS NOT NULL AND queue.job_id > gated.job_id ORDER BY queue.job_id LIMIT 1),
           place + 1
    FROM gated
    WHERE gated.job_id IS NOT NULL AND place < :limit
)
SELECT gated.job_id,
       EXISTS (
           SELECT 1 FROM queue AS waiting
           WHERE waiting.job_id = gated.job_id AND waiting.waits_for = 'slot' AND waiting.due <= :now
       ) AND (jobs.slots IS NULL OR jobs.slots
              > (SELECT count(*) FROM leases WHERE leases.job_id = gated.job_id AND leases.watched)
              + (SELECT count(*) FROM queue AS ready
                 WHERE ready.job_id = gated.job_id AND ready.watched
                   AND (ready.waits_for IS NULL OR ready.waits_for IN ('tasks', 'empty_worker'))))
       OR EXISTS (
           SELECT 1 FROM queue AS waiting
           WHERE waiting.job_id = gated.job_id AND waiting.waits_for = 'jobs' AND NOT EXISTS (
               SELECT 1 FROM job_dependencies
               LEFT JOIN job_completions ON job_completions.job_id = job_dependencies.depends_on
               WHERE job_dependencies.job_id = gated.job_id
                 AND (job_completions.completed_at IS NULL
                      OR job_completions.completed_at <= waiting.newer_than))
       ) AS may_open
FROM gated JOIN jobs ON jobs.id = gated.job_id
ORDER BY gated.job_id
