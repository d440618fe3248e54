-- expand: when a run was moved last, which of its times an event of an occurrence is about, and names by prefix.

-- What happens to a run next is not before this, whichever clock is behind. NULL: it was not moved since it began.
ALTER TABLE dag_runs ADD COLUMN moved_at timestamptz;

-- Of occurrences: one for each of the subjects. NULL: of other events, and of those of earlier releases.
ALTER TABLE events ADD COLUMN nominal_times timestamptz[];

-- By the order of characters, in which a prefix is a range, whatever the language of the database. Equal names are
-- found by it as before.
CREATE UNIQUE INDEX jobs_live_names ON jobs (tenant_id, name text_pattern_ops) WHERE status <> 'DELETED';
DROP INDEX jobs_live_name;
ALTER INDEX jobs_live_names RENAME TO jobs_live_name;
