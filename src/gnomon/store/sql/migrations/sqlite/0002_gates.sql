-- expand: gates. What an execution may wait for besides its time, and who counts it.

-- What the current revision says about the runs of the job, where enqueue, fire and admit find it.
-- `slots`: how many may run at once; NULL: any number. `watched`: somebody counts its runs. `awaited`: other
-- jobs depend on it, so its successes are noted; then it is watched too.
ALTER TABLE jobs ADD COLUMN slots INTEGER CHECK (slots >= 1);
ALTER TABLE jobs ADD COLUMN watched INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0;

-- The flags of the job travel with its runs, so that nobody else pays for those that are watched.
-- `newer_than`: of what it waits for at the gate `jobs`; NULL: any success will do.
ALTER TABLE queue ADD COLUMN watched INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queue ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queue ADD COLUMN newer_than INTEGER;
ALTER TABLE leases ADD COLUMN watched INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0;

-- One row for each job that has had slots or dependencies. PostgreSQL locks it; SQLite has one writer.
CREATE TABLE gates (
    job_id    BLOB NOT NULL PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    tenant_id BLOB NOT NULL REFERENCES tenants (id)
) STRICT, WITHOUT ROWID;

-- The latest success of each job that others depend on.
CREATE TABLE job_completions (
    job_id       BLOB    NOT NULL PRIMARY KEY,
    tenant_id    BLOB    NOT NULL,
    completed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

UPDATE jobs
SET slots = CASE WHEN json_extract(job_revisions.schedule, '$.overlap_policy') = 'queue' THEN 1
                 ELSE job_revisions.max_concurrent END
FROM job_revisions
WHERE job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
  AND (json_extract(job_revisions.schedule, '$.overlap_policy') = 'queue'
       OR job_revisions.max_concurrent IS NOT NULL);
UPDATE jobs SET awaited = 1 WHERE id IN (SELECT depends_on FROM job_dependencies);
UPDATE jobs SET watched = 1
FROM job_revisions
WHERE job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
  AND (jobs.slots IS NOT NULL OR jobs.awaited
       OR json_extract(job_revisions.schedule, '$.overlap_policy') IN ('skip', 'replace'));
UPDATE queue SET watched = 1, awaited = jobs.awaited
FROM jobs WHERE jobs.id = queue.job_id AND jobs.watched;
UPDATE leases SET watched = 1, awaited = jobs.awaited
FROM jobs WHERE jobs.id = leases.job_id AND jobs.watched;
INSERT INTO gates (job_id, tenant_id)
SELECT id, tenant_id FROM jobs WHERE slots IS NOT NULL OR dependencies <> '[]';
INSERT INTO job_completions (job_id, tenant_id, completed_at)
SELECT jobs.id, jobs.tenant_id, max(endings.finished_at)
FROM jobs
JOIN executions ON executions.job_id = jobs.id
JOIN endings ON endings.execution_id = executions.id
WHERE jobs.awaited AND endings.outcome = 'COMPLETED'
GROUP BY jobs.id, jobs.tenant_id;

CREATE INDEX queue_watched ON queue (job_id, waits_for) WHERE watched;
CREATE INDEX queue_gated ON queue (job_id, waits_for, priority DESC, due, execution_id)
    WHERE waits_for IS NOT NULL;
CREATE INDEX leases_watched ON leases (job_id) WHERE watched;
