-- By job, since the key begins with it: only what goes is read. What lies ahead of a job's cursor stays.
DELETE FROM occurrences WHERE (job_id, nominal_time) IN (
    SELECT past.job_id, past.nominal_time
    FROM wanted
    JOIN jobs ON jobs.id = wanted.id
    JOIN occurrences AS past ON past.job_id = wanted.id AND past.nominal_time < :before
    WHERE past.recorded_at < :before
      AND (jobs.next_run_time IS NULL OR past.nominal_time < jobs.next_run_time)
    LIMIT :limit);

SELECT changes() AS count
