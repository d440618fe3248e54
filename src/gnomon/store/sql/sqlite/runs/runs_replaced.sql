-- Runs that a run which is about to begin replaces: those of its workflow before it, but for backfills.
SELECT dag_runs.id AS dag_run_id
FROM queue
JOIN current_jobs ON current_jobs.id = queue.job_id
JOIN dag_runs ON dag_runs.dag_id = queue.job_id AND dag_runs.id < queue.execution_id
JOIN queue AS earlier ON earlier.execution_id = dag_runs.id AND earlier.watched
WHERE queue.execution_id = :run_id AND queue.watched
  AND json_extract(current_jobs.schedule, '$.overlap_policy') = 'replace'
  AND dag_runs.finished_at IS NULL AND dag_runs.ends_as IS NULL AND dag_runs.outer_run_id IS NULL
ORDER BY dag_runs.id
