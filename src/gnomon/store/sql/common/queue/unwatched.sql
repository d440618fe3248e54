-- Both tables in one statement: in two, an execution on its way from one to the other would be in neither.
SELECT execution_id FROM queue
WHERE job_id = :job_id AND NOT in_run AND NOT (watched AND (awaited OR NOT CAST(:awaited AS boolean)))
  AND NOT EXISTS (SELECT 1 FROM backfill_times WHERE backfill_times.execution_id = queue.execution_id)
UNION ALL
SELECT execution_id FROM leases
WHERE job_id = :job_id AND NOT in_run AND NOT (watched AND (awaited OR NOT CAST(:awaited AS boolean)))
LIMIT 1
