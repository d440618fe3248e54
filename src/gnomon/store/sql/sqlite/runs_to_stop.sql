-- Runs under way that should not be: of a workflow that was cancelled or deleted, and of one that replaces
-- its runs, those before the newest. Runs of a backfill replace nothing, and nothing replaces them.
SELECT dag_runs.id AS dag_run_id
FROM dag_runs
JOIN current_jobs ON current_jobs.id = dag_runs.dag_id
WHERE dag_runs.finished_at IS NULL AND dag_runs.ends_as IS NULL AND dag_runs.id > :after
  AND (current_jobs.status IN ('CANCELLED', 'DELETED')
       OR json_extract(current_jobs.schedule, '$.overlap_policy') = 'replace' AND dag_runs.outer_run_id IS NULL
       AND EXISTS (SELECT 1 FROM queue WHERE queue.execution_id = dag_runs.id AND queue.watched) AND EXISTS (
           SELECT 1 FROM queue
           WHERE queue.job_id = dag_runs.dag_id AND queue.watched AND queue.execution_id > dag_runs.id))
ORDER BY dag_runs.id
LIMIT :limit
