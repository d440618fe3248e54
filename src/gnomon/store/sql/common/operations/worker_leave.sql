UPDATE workers SET status = 'GONE', last_seen_at = :now WHERE id = :worker_id AND boot = :boot
