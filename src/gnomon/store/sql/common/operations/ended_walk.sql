SELECT execution_id,
       outcome = 'COMPLETED' AND finished_at < :completed
       OR outcome = 'FAILED' AND finished_at < :failed
       OR outcome = 'TIMEOUT' AND finished_at < :timeout
       OR outcome = 'CANCELLED' AND finished_at < :cancelled
       OR outcome = 'SKIPPED' AND finished_at < :skipped AS is_spent
FROM endings
WHERE execution_id > :after AND execution_id < :end
ORDER BY execution_id
LIMIT :limit
