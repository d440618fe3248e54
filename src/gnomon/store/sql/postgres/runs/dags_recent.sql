-- The newest runs of each of some workflows that have begun, in few words.
SELECT recent.id, recent.dag_id, recent.status, recent.started_at, recent.finished_at
FROM unnest(:wanted.id::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT dag_runs.id, dag_runs.dag_id, dag_runs.tenant_id, dag_runs.status, dag_runs.started_at,
           dag_runs.finished_at
    FROM dag_runs
    WHERE dag_runs.dag_id = wanted.id
    ORDER BY dag_runs.id DESC
    LIMIT :limit
) AS recent
WHERE recent.tenant_id = :tenant_id
ORDER BY recent.dag_id, recent.id DESC
