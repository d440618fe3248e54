INSERT INTO endings (execution_id, tenant_id, outcome, claim, attempts, due, finished_at)
SELECT execution_id, tenant_id, 'CANCELLED', claim, attempts, due, :now FROM queue
WHERE queue.job_id = :job_id AND queue.tenant_id = :tenant_id;

DELETE FROM unique_keys
WHERE execution_id IN (SELECT execution_id FROM queue WHERE queue.job_id = :job_id AND queue.tenant_id = :tenant_id);

DELETE FROM queue WHERE queue.job_id = :job_id AND queue.tenant_id = :tenant_id
