-- Some runs under way, and what is wrong with each. Each LIMIT 1 keeps the planner from reading whole tables.
-- `is_stale`: of a workflow that was cancelled or deleted, or of one that replaces its runs, and not the newest. Runs of
-- a backfill replace nothing, and nothing replaces them. `is_behind`: a task of it has ended, and it was not told.
SELECT run.id AS dag_run_id,
       run.ends_as IS NULL AND (
           job.status IN ('CANCELLED', 'DELETED')
           OR job.schedule ->> 'overlap_policy' = 'replace' AND run.outer_run_id IS NULL
           AND EXISTS (SELECT 1 FROM queue WHERE queue.execution_id = run.id AND queue.watched)
           AND EXISTS (
               SELECT 1 FROM queue
               WHERE queue.job_id = run.dag_id AND queue.watched AND queue.execution_id > run.id)) AS is_stale,
       run.live > 0 AND (
           SELECT true FROM task_instances
           JOIN executions ON executions.dag_run_id = task_instances.dag_run_id
                          AND executions.task = task_instances.task AND executions.round = task_instances.round
           JOIN endings ON endings.execution_id = executions.id
           WHERE task_instances.dag_run_id = run.id AND task_instances.status = 'RELEASED'
             AND executions.item IS NULL
           LIMIT 1) IS NOT NULL AS is_behind
FROM (
    SELECT id, dag_id, outer_run_id, live, ends_as FROM dag_runs
    WHERE finished_at IS NULL AND id > :after ORDER BY id LIMIT :limit
) AS run
CROSS JOIN LATERAL (SELECT status, schedule FROM current_jobs WHERE id = run.dag_id LIMIT 1) AS job
ORDER BY run.id
