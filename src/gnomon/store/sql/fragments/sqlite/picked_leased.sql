-- What was picked is leased, and leaves the queue.
@lease(attempts, crashes, watched, awaited, in_run)
FROM picked;

@event('execution.started' AS type)
FROM picked WHERE @is_followed GROUP BY tenant_id;

DELETE FROM queue WHERE execution_id IN (SELECT execution_id FROM picked)
