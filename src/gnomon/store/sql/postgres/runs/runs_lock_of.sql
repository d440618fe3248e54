-- The runs that these claims are of tasks of, locked as by runs_lock.sql, with the places of those claims.
WITH RECURSIVE members AS MATERIALIZED (
    SELECT held.place - 1 AS place, executions.dag_run_id, executions.task, executions.round, executions.item
    FROM unnest(:held.execution_id::uuid[], :held.claim::integer[]) WITH ORDINALITY
        AS held (execution_id, claim, place)
    JOIN leases ON leases.execution_id = held.execution_id AND leases.claim = held.claim
    JOIN executions ON executions.id = held.execution_id
    WHERE leases.in_run
), around (id, outer_run_id) AS (
    SELECT id, outer_run_id FROM dag_runs WHERE id = ANY (ARRAY(SELECT dag_run_id FROM members))
    UNION
    SELECT dag_runs.id, dag_runs.outer_run_id
    FROM around JOIN dag_runs ON dag_runs.id = around.outer_run_id
)
SELECT dag_runs.*,
       (SELECT json_agg(json_build_array(place, task, round, item))::text
        FROM members WHERE members.dag_run_id = dag_runs.id) AS members
FROM dag_runs WHERE id = ANY (ARRAY(SELECT id FROM around))
ORDER BY id
FOR NO KEY UPDATE
