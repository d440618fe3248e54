UPDATE executions
SET outcome = 'CANCELLED', finished_at = :now, claim = queue.claim, attempts = queue.attempts
FROM queue
WHERE executions.id = queue.execution_id AND queue.job_id = :job_id AND queue.tenant_id = :tenant_id;

DELETE FROM unique_keys
WHERE execution_id IN (SELECT execution_id FROM queue WHERE job_id = :job_id AND tenant_id = :tenant_id);

DELETE FROM queue WHERE job_id = :job_id AND tenant_id = :tenant_id
