-- Where reading on begins: before the oldest transaction that is still open.
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS batch, 0 AS position
