SELECT slots FROM workers WHERE id = :worker_id AND status = 'ACTIVE' AND last_seen_at > :silent_since
