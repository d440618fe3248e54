UPDATE workers SET status = 'ACTIVE' WHERE id = :worker_id AND status = 'DRAINING'
