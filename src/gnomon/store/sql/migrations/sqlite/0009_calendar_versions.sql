-- expand: a version for calendars, and an index by which those who name one are found.

ALTER TABLE calendars ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
CREATE INDEX job_revisions_calendar ON job_revisions (tenant_id, json_extract(schedule, '$.calendar')) WHERE json_extract(schedule, '$.calendar') IS NOT NULL;
