SELECT status, version, revision, next_run_time, slots, watched FROM jobs WHERE id = :job_id AND tenant_id = :tenant_id
