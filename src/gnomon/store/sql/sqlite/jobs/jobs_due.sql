SELECT current_jobs.* FROM current_jobs
WHERE next_run_time <= :now
  AND (:shards IS NULL OR shard IN (SELECT value FROM json_each(:shards)))
  AND id NOT IN (SELECT passed_over.id FROM passed_over)
ORDER BY next_run_time, id
LIMIT :limit
