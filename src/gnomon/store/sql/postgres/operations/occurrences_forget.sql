-- By job, since the key begins with it: only what goes is read. What lies ahead of a job's cursor stays.
WITH gone AS (
    DELETE FROM occurrences USING (
        SELECT past.job_id, past.nominal_time
        FROM unnest(:wanted.id::uuid[]) AS wanted (id)
        JOIN jobs ON jobs.id = wanted.id
        JOIN occurrences AS past ON past.job_id = wanted.id AND past.nominal_time < :before
        WHERE past.recorded_at < :before
          AND (jobs.next_run_time IS NULL OR past.nominal_time < jobs.next_run_time)
        LIMIT :limit
    ) AS old
    WHERE occurrences.job_id = old.job_id AND occurrences.nominal_time = old.nominal_time
    RETURNING 1
)
SELECT count(*) AS count FROM gone
