SELECT tenant_id, name, dates
FROM unnest(:wanted_calendar.tenant_id::uuid[], :wanted_calendar.name::text[]) AS wanted (tenant_id, name)
JOIN calendars USING (tenant_id, name)
