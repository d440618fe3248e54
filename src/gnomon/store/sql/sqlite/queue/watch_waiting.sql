-- Runs of a backfill stay as they are: it has slots of its own.
UPDATE queue SET watched = 1, awaited = awaited OR :awaited
WHERE job_id = :job_id AND NOT in_run AND NOT (watched AND (awaited OR NOT :awaited))
  AND NOT EXISTS (SELECT 1 FROM backfill_times WHERE backfill_times.execution_id = queue.execution_id)
