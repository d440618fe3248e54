-- FOR UPDATE: it waits for those who make or change a job that names it, which hold FOR KEY SHARE.
SELECT tenant_id, name, dates, version, updated_at FROM calendars WHERE tenant_id = :tenant_id AND name = :name
FOR UPDATE
