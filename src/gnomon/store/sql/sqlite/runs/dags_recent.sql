-- The newest runs of each of some workflows that have begun, in few words.
SELECT recent.id, recent.dag_id, recent.status, recent.started_at, recent.finished_at
FROM wanted CROSS JOIN dag_runs AS recent ON recent.id IN (
    SELECT dag_runs.id FROM dag_runs
    WHERE dag_runs.dag_id = wanted.id
    ORDER BY dag_runs.id DESC
    LIMIT :limit)
WHERE recent.tenant_id = :tenant_id
ORDER BY recent.dag_id, recent.id DESC
