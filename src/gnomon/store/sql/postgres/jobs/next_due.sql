SELECT next_run_time FROM jobs
WHERE next_run_time IS NOT NULL AND (:shards::smallint[] IS NULL OR shard = ANY (:shards::smallint[]))
  AND id <> ALL (:passed_over.id::uuid[])
ORDER BY next_run_time
LIMIT 1
