-- One worker a lane stops claiming for the suspect that has waited longest; an answer of no row: not this one.
-- It asks again while it waits, so that of a worker that died runs out. After it gave up, it rests for a while.
INSERT INTO suspect_reservations (lane_id, worker, reserved_until, give_up_at, rest_until)
SELECT lane_id, :worker, :reserved_until, :give_up_at, :rest_until FROM (
    SELECT lane_id FROM queue
    WHERE waits_for = 'empty_worker' AND lane_id = ANY (:lane_ids::integer[]) AND due <= :waiting_since
    ORDER BY due, execution_id
    LIMIT 1
) AS oldest WHERE true
ON CONFLICT (lane_id) DO UPDATE
SET worker = excluded.worker,
    reserved_until = CASE
        WHEN suspect_reservations.worker = excluded.worker AND suspect_reservations.reserved_until > :now
             AND suspect_reservations.give_up_at < excluded.reserved_until
        THEN suspect_reservations.give_up_at ELSE excluded.reserved_until END,
    give_up_at = CASE
        WHEN suspect_reservations.worker = excluded.worker AND suspect_reservations.reserved_until > :now
        THEN suspect_reservations.give_up_at ELSE excluded.give_up_at END,
    rest_until = CASE
        WHEN suspect_reservations.worker = excluded.worker AND suspect_reservations.reserved_until > :now
        THEN suspect_reservations.rest_until ELSE excluded.rest_until END
WHERE CASE WHEN suspect_reservations.worker = excluded.worker
           THEN suspect_reservations.reserved_until < suspect_reservations.give_up_at
                OR suspect_reservations.rest_until <= :now
           ELSE suspect_reservations.reserved_until <= :now END
RETURNING lane_id
