SELECT calendars.name FROM wanted_calendar JOIN calendars USING (tenant_id, name)
