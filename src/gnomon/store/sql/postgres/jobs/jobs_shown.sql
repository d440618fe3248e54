-- In the order of core/jobs/shown.py.
SELECT id, tenant_id, name, status, version, revision, kind, queue, priority, timeout_seconds, max_concurrent, delivery,
       next_run_time, last_run_time, fires, created_at, updated_at,
       payload, capabilities, tags, dependencies, retry, schedule
FROM unnest(:wanted.id::uuid[]) WITH ORDINALITY AS wanted (id, place)
JOIN current_jobs USING (id)
WHERE tenant_id = :tenant_id
ORDER BY place
