-- FOR UPDATE, not FOR NO KEY UPDATE: it waits for running enqueues, which hold FOR KEY SHARE.
SELECT status, version, revision, next_run_time, slots, watched FROM jobs WHERE id = :job_id AND tenant_id = :tenant_id
FOR UPDATE
