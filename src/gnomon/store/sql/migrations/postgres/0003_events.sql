-- expand: events. What became true, for those who follow: written by the transaction that made it true.

-- A row speaks for a whole batch: one statement of ours is one row a type and tenant, so nobody pays by the piece.
-- Readers go by (batch, position), and only up to the oldest transaction that is still open: what commits
-- later comes later, so nobody who reads on can miss anything.
CREATE TABLE events (
    batch       bigint      NOT NULL,
    position    bigint      GENERATED ALWAYS AS IDENTITY,
    tenant_id   uuid        NOT NULL,
    type        text        NOT NULL,
    at          timestamptz NOT NULL,
    subjects    uuid[]      NOT NULL,
    PRIMARY KEY (batch, position)
);
-- Ids hold nothing that could be packed more tightly, and to try costs more than all the rest.
ALTER TABLE events ALTER COLUMN subjects SET STORAGE EXTERNAL;

-- Who follows, and when they were last seen. Where nobody does, nothing that happens often is written.
CREATE TABLE event_followers (
    tenant_id uuid        PRIMARY KEY,
    seen_at   timestamptz NOT NULL
);

-- The statements that enqueue, claim, fire and end write their events themselves: a trigger would cost too much.
-- What happens seldom is told by triggers.

-- What is given back without charge, by a drain or a snooze, is no retry.
CREATE FUNCTION tell_of_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, 'execution.retried', max(finished_at),
           array_agg(execution_id)
    FROM made WHERE outcome IN ('FAILED', 'TIMEOUT', 'EXPIRED') GROUP BY tenant_id;
    RETURN NULL;
END $$;
CREATE TRIGGER attempts_tell AFTER INSERT ON attempts REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION tell_of_attempts();

CREATE FUNCTION tell_of_dead_letters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, 'execution.dead_lettered', max(died_at),
           array_agg(execution_id)
    FROM made GROUP BY tenant_id;
    RETURN NULL;
END $$;
CREATE TRIGGER dead_letters_tell AFTER INSERT ON dead_letters REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION tell_of_dead_letters();

CREATE FUNCTION tell_of_redrive() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    VALUES (pg_current_xact_id()::text::bigint, NEW.tenant_id, 'execution.redriven', NEW.redriven_at,
            ARRAY[NEW.execution_id]);
    RETURN NULL;
END $$;
CREATE TRIGGER dead_letters_tell_of_redrive AFTER UPDATE ON dead_letters FOR EACH ROW
    WHEN (OLD.redriven_as IS NULL AND NEW.redriven_as IS NOT NULL) EXECUTE FUNCTION tell_of_redrive();

CREATE FUNCTION tell_of_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, 'job.created', max(created_at), array_agg(id)
    FROM made GROUP BY tenant_id;
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_tell AFTER INSERT ON jobs REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION tell_of_jobs();

-- A firing moves a job on without a new version; only what a person did, or its end, is told.
CREATE FUNCTION tell_of_job_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    VALUES (pg_current_xact_id()::text::bigint, NEW.tenant_id,
            CASE WHEN NEW.status = OLD.status THEN 'job.updated'
                 WHEN OLD.status = 'PAUSED' AND NEW.status = 'ACTIVE' THEN 'job.resumed'
                 WHEN NEW.status = 'ACTIVE' THEN 'job.updated'
                 ELSE 'job.' || lower(NEW.status) END,
            greatest(NEW.updated_at, NEW.last_run_time), ARRAY[NEW.id]);
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_tell_of_change AFTER UPDATE ON jobs FOR EACH ROW
    WHEN (OLD.version <> NEW.version OR OLD.status <> NEW.status) EXECUTE FUNCTION tell_of_job_change();
