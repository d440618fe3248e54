-- expand: attempts that a worker turned away, by time, so that a count of them reads no others.

CREATE INDEX attempts_turned_away ON attempts (finished_at) WHERE outcome = 'SNOOZED' AND failure_kind IS NOT NULL;
