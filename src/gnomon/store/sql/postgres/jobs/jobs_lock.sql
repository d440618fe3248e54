-- In the order of ids, so that two batches cannot wait for each other. FOR UPDATE: see job_lock.
SELECT jobs.id FROM jobs WHERE jobs.id = ANY (:wanted.id::uuid[]) AND jobs.tenant_id = :tenant_id
ORDER BY jobs.id
FOR UPDATE
