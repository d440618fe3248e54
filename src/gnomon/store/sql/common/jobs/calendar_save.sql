INSERT INTO calendars (tenant_id, name, dates, updated_at) VALUES (:tenant_id, :name, :dates, :now)
ON CONFLICT (tenant_id, name) DO UPDATE
SET dates = excluded.dates, version = calendars.version + 1, updated_at = excluded.updated_at
RETURNING version, updated_at
