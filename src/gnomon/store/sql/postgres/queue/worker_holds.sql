-- What runs is counted one by one, so only workers that are counted are asked for. Which suspects it could have
-- is read from an index that is nearly always empty.
SELECT count(*) AS held, coalesce(sum(CASE WHEN crashes > 0 THEN 1 ELSE 0 END), 0) AS suspects,
       EXISTS (SELECT 1 FROM queue
               WHERE waits_for = 'empty_worker' AND lane_id = ANY (:lane_ids::integer[]) AND due <= :now) AS one_waits,
       EXISTS (SELECT 1 FROM queue
               WHERE waits_for = 'empty_worker' AND lane_id = ANY (:lane_ids::integer[])
                     AND due <= :waiting_since) AS one_has_waited,
       EXISTS (SELECT 1 FROM suspect_reservations WHERE worker = :worker_id AND reserved_until > :now) AS is_reserved
FROM leases WHERE worker = :worker_id
