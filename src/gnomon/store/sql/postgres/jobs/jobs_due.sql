SELECT current_jobs.* FROM current_jobs
WHERE next_run_time <= :now AND (:shards::smallint[] IS NULL OR shard = ANY (:shards::smallint[]))
  AND id <> ALL (:passed_over.id::uuid[])
ORDER BY next_run_time, id
LIMIT :limit
