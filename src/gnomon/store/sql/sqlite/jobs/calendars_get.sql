SELECT tenant_id, name, dates FROM wanted_calendar JOIN calendars USING (tenant_id, name)
