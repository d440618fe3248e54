WITH RECURSIVE around (id, outer_run_id) AS (
    SELECT id, outer_run_id FROM dag_runs WHERE id IN (SELECT id FROM wanted)
    UNION
    SELECT dag_runs.id, dag_runs.outer_run_id
    FROM around JOIN dag_runs ON dag_runs.id = around.outer_run_id
)
SELECT * FROM dag_runs WHERE id IN (SELECT id FROM around)
ORDER BY id
