INSERT INTO endings (execution_id, tenant_id, outcome, claim, attempts, due, finished_at)
SELECT execution_id, tenant_id, 'CANCELLED', claim, attempts, due, :now FROM queue
WHERE job_id = :job_id AND watched AND execution_id NOT IN (SELECT id FROM wanted);

DELETE FROM unique_keys WHERE execution_id IN (
    SELECT execution_id FROM queue
    WHERE job_id = :job_id AND watched AND execution_id NOT IN (SELECT id FROM wanted));

DELETE FROM queue WHERE job_id = :job_id AND watched AND execution_id NOT IN (SELECT id FROM wanted)
