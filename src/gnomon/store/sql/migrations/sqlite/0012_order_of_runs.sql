-- expand: when a run was moved last, and which of its times an event of an occurrence is about.

-- What happens to a run next is not before this, whichever clock is behind. NULL: it was not moved since it began.
ALTER TABLE dag_runs ADD COLUMN moved_at INTEGER;

-- Of occurrences: one for each of the subjects. NULL: of other events, and of those of earlier releases.
ALTER TABLE events ADD COLUMN nominal_times TEXT;
