SELECT 0 AS batch, coalesce(max(position), 0) AS position FROM events
