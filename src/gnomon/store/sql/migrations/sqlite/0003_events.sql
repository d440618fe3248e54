-- expand: events. What became true, for those who follow: written by the transaction that made it true.

-- SQLite has one writer, so the order of positions is the order of commits, and `batch` is nothing.
-- The statements that enqueue, claim, fire and end write their events themselves, a batch a row. What happens
-- seldom is told by triggers.
CREATE TABLE events (
    batch         INTEGER NOT NULL,
    position      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    tenant_id     BLOB    NOT NULL,
    type          TEXT    NOT NULL,
    at            INTEGER NOT NULL,
    subjects      TEXT    NOT NULL
) STRICT;

-- Who follows, and when they were last seen. Where nobody does, nothing that happens often is written.
CREATE TABLE event_followers (
    tenant_id BLOB    NOT NULL PRIMARY KEY,
    seen_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is given back without charge, by a drain or a snooze, is no retry.
CREATE TRIGGER attempts_tell AFTER INSERT ON attempts WHEN NEW.outcome IN ('FAILED', 'TIMEOUT', 'EXPIRED')
BEGIN
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    VALUES (0, NEW.tenant_id, 'execution.retried', NEW.finished_at, '["' || hex(NEW.execution_id) || '"]');
END;
CREATE TRIGGER dead_letters_tell AFTER INSERT ON dead_letters
BEGIN
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    VALUES (0, NEW.tenant_id, 'execution.dead_lettered', NEW.died_at, '["' || hex(NEW.execution_id) || '"]');
END;
CREATE TRIGGER dead_letters_tell_of_redrive AFTER UPDATE ON dead_letters
WHEN OLD.redriven_as IS NULL AND NEW.redriven_as IS NOT NULL
BEGIN
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    VALUES (0, NEW.tenant_id, 'execution.redriven', NEW.redriven_at, '["' || hex(NEW.execution_id) || '"]');
END;
CREATE TRIGGER jobs_tell AFTER INSERT ON jobs
BEGIN
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    VALUES (0, NEW.tenant_id, 'job.created', NEW.created_at, '["' || hex(NEW.id) || '"]');
END;
-- A firing moves a job on without a new version; only what a person did, or its end, is told.
CREATE TRIGGER jobs_tell_of_change AFTER UPDATE ON jobs
WHEN OLD.version <> NEW.version OR OLD.status <> NEW.status
BEGIN
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    VALUES (0, NEW.tenant_id,
            CASE WHEN NEW.status = OLD.status THEN 'job.updated'
                 WHEN OLD.status = 'PAUSED' AND NEW.status = 'ACTIVE' THEN 'job.resumed'
                 WHEN NEW.status = 'ACTIVE' THEN 'job.updated'
                 ELSE 'job.' || lower(NEW.status) END,
            max(NEW.updated_at, coalesce(NEW.last_run_time, NEW.updated_at)), '["' || hex(NEW.id) || '"]');
END;
