SELECT current_jobs.id, status, revision, lane_id, priority
FROM wanted JOIN current_jobs USING (id)
WHERE tenant_id = :tenant_id
