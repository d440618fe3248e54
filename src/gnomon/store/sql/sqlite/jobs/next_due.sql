SELECT next_run_time FROM jobs
WHERE next_run_time IS NOT NULL
  AND (:shards IS NULL OR shard IN (SELECT value FROM json_each(:shards)))
  AND id NOT IN (SELECT passed_over.id FROM passed_over)
ORDER BY next_run_time
LIMIT 1
