WITH RECURSIVE members AS MATERIALIZED (
    SELECT held.rowid - (SELECT min(rowid) FROM held) AS place, executions.dag_run_id, executions.task,
           executions.round, executions.item
    FROM held
    JOIN leases ON leases.execution_id = held.execution_id AND leases.claim = held.claim
    JOIN executions ON executions.id = held.execution_id
    WHERE leases.in_run
), around (id, outer_run_id) AS (
    SELECT id, outer_run_id FROM dag_runs WHERE id IN (SELECT dag_run_id FROM members)
    UNION
    SELECT dag_runs.id, dag_runs.outer_run_id
    FROM around JOIN dag_runs ON dag_runs.id = around.outer_run_id
)
SELECT dag_runs.*,
       (SELECT json_group_array(json_array(place, task, round, item))
        FROM members WHERE members.dag_run_id = dag_runs.id) AS members
FROM dag_runs WHERE id IN (SELECT id FROM around)
ORDER BY id
