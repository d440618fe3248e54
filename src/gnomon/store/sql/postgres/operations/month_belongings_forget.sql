-- What belongs to the executions of a month and lies in tables without months.
WITH letters AS (
    DELETE FROM dead_letters WHERE execution_id IN (
        SELECT execution_id FROM dead_letters WHERE execution_id >= :first AND execution_id < :end
        ORDER BY execution_id LIMIT :limit)
    RETURNING 1
), points AS (
    DELETE FROM checkpoints WHERE execution_id IN (
        SELECT execution_id FROM checkpoints WHERE execution_id >= :first AND execution_id < :end
        ORDER BY execution_id LIMIT :limit)
    RETURNING 1
), runs AS (
    -- A run with all that it has: its tasks may be many more than the limit, but they are its own.
    SELECT id FROM dag_runs WHERE id >= :first AND id < :end ORDER BY id LIMIT :limit
), tasks AS (
    DELETE FROM task_instances WHERE dag_run_id IN (SELECT id FROM runs)
), notes AS (
    DELETE FROM task_notes WHERE dag_run_id IN (SELECT id FROM runs)
), gone AS (
    DELETE FROM dag_runs WHERE id IN (SELECT id FROM runs)
)
SELECT (SELECT count(*) FROM letters) AS letters, (SELECT count(*) FROM points) AS points,
       (SELECT count(*) FROM runs) AS runs
