SELECT calendars.name
FROM unnest(:wanted_calendar.tenant_id::uuid[], :wanted_calendar.name::text[]) AS wanted (tenant_id, name)
JOIN calendars USING (tenant_id, name)
ORDER BY calendars.name
FOR KEY SHARE OF calendars
