@execution(:tenant_id AS tenant_id, unique_key, input)
FROM asked;

@event(:tenant_id AS tenant_id, 'execution.created' AS type)
FROM asked WHERE @is_followed GROUP BY NULL;

@waiting(:tenant_id AS tenant_id, waits_for, coalesce(watched, 0) AS watched, coalesce(awaited, 0) AS awaited)
FROM asked
