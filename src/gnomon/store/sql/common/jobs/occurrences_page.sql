SELECT nominal_time, nominal_until, count, reason, execution_id, due FROM occurrences
WHERE tenant_id = :tenant_id AND job_id = :job_id AND nominal_time < :before
ORDER BY nominal_time DESC
LIMIT :limit
