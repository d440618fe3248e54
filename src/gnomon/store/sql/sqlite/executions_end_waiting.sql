UPDATE executions
SET outcome = 'CANCELLED', finished_at = :now, claim = queue.claim, attempts = queue.attempts
FROM queue, wanted
WHERE executions.id = queue.execution_id AND queue.execution_id = wanted.id AND queue.tenant_id = :tenant_id;

DELETE FROM unique_keys
WHERE execution_id IN (SELECT execution_id FROM queue JOIN wanted ON queue.execution_id = wanted.id
                       WHERE queue.tenant_id = :tenant_id);

DELETE FROM queue WHERE execution_id IN (SELECT id FROM wanted) AND tenant_id = :tenant_id
