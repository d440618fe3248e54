UPDATE workers SET status = 'DRAINING' WHERE id = :worker_id AND status = 'ACTIVE'
