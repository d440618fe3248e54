UPDATE jobs
SET name = :name, status = :status, version = version + 1, revision = :revision,
    next_run_time = :next_run_time, anchor = :anchor, tags = :tags, dependencies = :dependencies,
    slots = :slots, watched = CAST(:watched AS boolean) OR awaited, updated_at = :now
WHERE id = :job_id
