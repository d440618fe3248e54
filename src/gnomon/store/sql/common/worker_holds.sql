-- What runs is counted one by one, so only workers that are counted are asked for.
SELECT count(*) AS held FROM leases WHERE worker = :worker_id
