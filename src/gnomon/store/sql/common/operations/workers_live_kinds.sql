SELECT DISTINCT kinds
FROM workers
WHERE status <> 'GONE' AND last_seen_at > :silent_since
