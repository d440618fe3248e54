-- What the store does, written down by the transaction that does it. Only a campaign installs this.
-- The number of an event orders the events of one run from one statement to the next: a transaction that changes a
-- run holds its row until the commit, and takes the number while it holds it. In which order PostgreSQL runs the
-- parts of one statement is unspecified. So the events of one statement, which share `tx` and `said`, have the order
-- in which they follow from each other: see `events_in_order.sql`.

CREATE TABLE campaign_events (
    number bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    said   timestamptz NOT NULL DEFAULT statement_timestamp(),
    tx     bigint      NOT NULL DEFAULT pg_current_xact_id()::text::bigint,
    who    text        NOT NULL DEFAULT current_setting('application_name'),
    what   text        NOT NULL,
    facts  jsonb       NOT NULL
);

CREATE FUNCTION campaign_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO campaign_events (what, facts) VALUES (TG_ARGV[0], to_jsonb(NEW) - '{input,result}'::text[]);
    RETURN NULL;
END $$;

-- Until when a run that was given back waits is in its new row of the queue.
CREATE FUNCTION campaign_note_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO campaign_events (what, facts)
    SELECT 'attempt', to_jsonb(NEW) || jsonb_build_object('next_at', queue.due)
    FROM queue WHERE queue.execution_id = NEW.execution_id;
    RETURN NULL;
END $$;

CREATE FUNCTION campaign_note_skip() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO campaign_events (what, facts)
    SELECT 'skip', to_jsonb(NEW) || jsonb_build_object('anchor', jobs.anchor, 'revision', jobs.revision)
    FROM jobs WHERE jobs.id = NEW.job_id;
    RETURN NULL;
END $$;

CREATE TRIGGER campaign_job_made AFTER INSERT ON jobs
    FOR EACH ROW EXECUTE FUNCTION campaign_note('job');
CREATE TRIGGER campaign_job_changed AFTER UPDATE ON jobs
    FOR EACH ROW WHEN (NEW.version <> OLD.version) EXECUTE FUNCTION campaign_note('job');
CREATE TRIGGER campaign_skipped AFTER INSERT ON occurrences
    FOR EACH ROW WHEN (NEW.reason IS NOT NULL) EXECUTE FUNCTION campaign_note_skip();
CREATE TRIGGER campaign_born AFTER INSERT ON executions
    FOR EACH ROW EXECUTE FUNCTION campaign_note('born');
CREATE TRIGGER campaign_claimed AFTER INSERT ON leases
    FOR EACH ROW EXECUTE FUNCTION campaign_note('claim');
CREATE TRIGGER campaign_renewed AFTER UPDATE ON leases
    FOR EACH ROW WHEN (NEW.lease_until > OLD.lease_until) EXECUTE FUNCTION campaign_note('beat');
CREATE TRIGGER campaign_stopped AFTER UPDATE ON leases
    FOR EACH ROW WHEN (NEW.cancel_requested AND NOT OLD.cancel_requested)
    EXECUTE FUNCTION campaign_note('stop');
CREATE TRIGGER campaign_tried AFTER INSERT ON attempts
    FOR EACH ROW EXECUTE FUNCTION campaign_note_attempt();
CREATE TRIGGER campaign_ended AFTER INSERT ON endings
    FOR EACH ROW EXECUTE FUNCTION campaign_note('ending');
CREATE TRIGGER campaign_elected AFTER INSERT OR UPDATE ON shards
    FOR EACH ROW WHEN (NEW.owner <> '') EXECUTE FUNCTION campaign_note('shard');

-- Workflows. What happens to a run happens while its row is locked.
CREATE TRIGGER campaign_run_began AFTER INSERT ON dag_runs
    FOR EACH ROW WHEN (NEW.has_tasks) EXECUTE FUNCTION campaign_note('run');
CREATE TRIGGER campaign_run_stopped AFTER UPDATE ON dag_runs
    FOR EACH ROW WHEN (NEW.ends_as = 'CANCELLED' AND OLD.ends_as IS NULL) EXECUTE FUNCTION campaign_note('run_stop');
CREATE TRIGGER campaign_run_held AFTER UPDATE ON dag_runs
    FOR EACH ROW WHEN (NEW.is_paused <> OLD.is_paused) EXECUTE FUNCTION campaign_note('run_hold');
CREATE TRIGGER campaign_task_made AFTER INSERT ON task_instances
    FOR EACH ROW WHEN (NEW.status <> 'WAITING') EXECUTE FUNCTION campaign_note('task');
CREATE TRIGGER campaign_task_moved AFTER UPDATE ON task_instances
    FOR EACH ROW WHEN (NEW.status <> OLD.status OR NEW.round <> OLD.round) EXECUTE FUNCTION campaign_note('task');
