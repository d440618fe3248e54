-- What waits and was turned away not long ago, by a worker that is still the one that did so.
SELECT recent.execution_id, recent.worker, recent.failure_message, queue.lane_id
FROM (
    SELECT execution_id, worker, started_at, failure_message FROM attempts
    WHERE outcome = 'SNOOZED' AND failure_kind IS NOT NULL AND finished_at > :since
    ORDER BY finished_at DESC
    LIMIT :limit
) AS recent
JOIN queue ON queue.execution_id = recent.execution_id
JOIN workers ON workers.id = recent.worker AND workers.registered_at <= recent.started_at
