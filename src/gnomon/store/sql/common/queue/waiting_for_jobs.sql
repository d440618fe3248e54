-- The jobs that have not succeeded since: the condition of admit_fulfilled, one by one.
SELECT job_dependencies.depends_on, needed.name
FROM queue
JOIN job_dependencies ON job_dependencies.job_id = queue.job_id
JOIN jobs AS needed ON needed.id = job_dependencies.depends_on
LEFT JOIN job_completions ON job_completions.job_id = job_dependencies.depends_on
WHERE queue.execution_id = :execution_id AND queue.waits_for = 'jobs'
  AND (job_completions.completed_at IS NULL OR job_completions.completed_at <= queue.newer_than)
ORDER BY job_dependencies.depends_on
