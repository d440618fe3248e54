-- One counted claim of a worker at a time: two of them must not count the same room.
SELECT slots FROM workers WHERE id = :worker_id AND status = 'ACTIVE' AND last_seen_at > :silent_since
FOR NO KEY UPDATE
