-- With the runs around them, since the end of one is an event of the other; in the order of ids, from the
-- outside to the inside, so that two cannot wait for each other.
WITH RECURSIVE around (id, outer_run_id) AS (
    SELECT id, outer_run_id FROM dag_runs WHERE id = ANY (:wanted.id::uuid[])
    UNION
    SELECT dag_runs.id, dag_runs.outer_run_id
    FROM around JOIN dag_runs ON dag_runs.id = around.outer_run_id
)
SELECT * FROM dag_runs WHERE id = ANY (ARRAY(SELECT id FROM around))
ORDER BY id
FOR NO KEY UPDATE
