INSERT INTO calendars (tenant_id, name, dates, updated_at) VALUES (:tenant_id, :name, :dates, :now)
ON CONFLICT (tenant_id, name) DO UPDATE SET dates = excluded.dates, updated_at = excluded.updated_at
