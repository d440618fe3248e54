DELETE FROM calendars WHERE tenant_id = :tenant_id AND name = :name
