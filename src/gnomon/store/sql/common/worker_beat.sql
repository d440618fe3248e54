UPDATE workers SET last_seen_at = :now WHERE id = :worker_id AND boot = :boot AND status <> 'GONE'
RETURNING id AS worker_id
