-- How many a claim over these lanes would take before this one: the order of claim.sql, counted up to a limit.
SELECT count(*) AS ahead FROM (
    SELECT 1 FROM queue
    WHERE queue.lane_id IN (SELECT id FROM lane) AND queue.waits_for IS NULL AND queue.due <= :now
      AND (queue.priority > :priority
           OR (queue.priority = :priority AND (queue.due, queue.execution_id) < (:due, :execution_id)))
    LIMIT :limit
) AS before_it
