-- What an open transaction will add comes later in the order, so it is not passed by.
SELECT batch, position, type, at AS happened_at, subjects, nominal_times FROM events
WHERE (batch, position) >= (:batch, :position) AND tenant_id = :tenant_id
  AND batch < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
  AND (:types::text[] IS NULL OR type = ANY (:types::text[]))
ORDER BY batch, position
LIMIT :limit
