-- Runs that are not in the queue any more have ended. One that retention has dropped since had ended before.
UPDATE backfill_times
SET state = coalesce((SELECT endings.outcome FROM endings WHERE endings.execution_id = backfill_times.execution_id),
                     'CANCELLED')
WHERE backfill_id = :backfill_id AND state = 'RUNNING'
  AND NOT EXISTS (SELECT 1 FROM queue WHERE queue.execution_id = backfill_times.execution_id)
