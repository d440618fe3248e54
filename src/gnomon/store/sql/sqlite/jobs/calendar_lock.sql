SELECT tenant_id, name, dates, version, updated_at FROM calendars WHERE tenant_id = :tenant_id AND name = :name
