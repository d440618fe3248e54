-- The first ending of a month that must be kept longer. One read of the month, when it is about to go.
SELECT execution_id FROM endings
WHERE execution_id >= :first AND execution_id < :end
  AND NOT (outcome = 'COMPLETED' AND finished_at < :completed
           OR outcome = 'FAILED' AND finished_at < :failed
           OR outcome = 'TIMEOUT' AND finished_at < :timeout
           OR outcome = 'CANCELLED' AND finished_at < :cancelled
           OR outcome = 'SKIPPED' AND finished_at < :skipped)
LIMIT 1
