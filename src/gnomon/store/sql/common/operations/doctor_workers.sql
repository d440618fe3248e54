SELECT execution_id
FROM queue
WHERE waits_for IS NULL
  AND due < :before
  AND NOT EXISTS (SELECT 1 FROM workers WHERE status = 'ACTIVE' AND last_seen_at > :before)
ORDER BY due, execution_id
LIMIT :limit
