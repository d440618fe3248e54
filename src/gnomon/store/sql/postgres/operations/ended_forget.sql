-- An ended execution never changes again, so what was seen as spent still is.
WITH tried AS (
    DELETE FROM attempts WHERE execution_id = ANY (:wanted.id::uuid[])
), points AS (
    DELETE FROM checkpoints WHERE execution_id = ANY (:wanted.id::uuid[])
), letters AS (
    DELETE FROM dead_letters WHERE execution_id = ANY (:wanted.id::uuid[])
), tasks AS (
    DELETE FROM task_instances WHERE dag_run_id = ANY (:wanted.id::uuid[])
), notes AS (
    DELETE FROM task_notes WHERE dag_run_id = ANY (:wanted.id::uuid[])
), runs AS (
    DELETE FROM dag_runs WHERE id = ANY (:wanted.id::uuid[])
), ended AS (
    DELETE FROM endings WHERE execution_id = ANY (:wanted.id::uuid[])
)
DELETE FROM executions WHERE id = ANY (:wanted.id::uuid[])
