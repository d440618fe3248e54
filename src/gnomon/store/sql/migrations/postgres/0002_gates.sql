-- expand: gates. What an execution may wait for besides its time, and who counts it.

-- What the current revision says about the runs of the job, where enqueue, fire and admit find it.
-- `slots`: how many may run at once; NULL: any number. `watched`: somebody counts its runs. `awaited`: other
-- jobs depend on it, so its successes are noted; then it is watched too.
ALTER TABLE jobs
    ADD COLUMN slots   integer CHECK (slots >= 1),
    ADD COLUMN watched boolean NOT NULL DEFAULT false,
    ADD COLUMN awaited boolean NOT NULL DEFAULT false;

-- The flags of the job travel with its runs, so that nobody else pays for those that are watched.
-- `newer_than`: of what it waits for at the gate `jobs`; NULL: any success will do.
ALTER TABLE queue
    ADD COLUMN watched    boolean NOT NULL DEFAULT false,
    ADD COLUMN awaited    boolean NOT NULL DEFAULT false,
    ADD COLUMN newer_than timestamptz;
ALTER TABLE leases
    ADD COLUMN watched boolean NOT NULL DEFAULT false,
    ADD COLUMN awaited boolean NOT NULL DEFAULT false;

-- One row for each job that has had slots or dependencies. Its lock is all it is for: who lets runs in counts
-- while nobody else does. Not the job's own row, since that would hold up those who fire and enqueue.
CREATE TABLE gates (
    job_id    uuid PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    tenant_id uuid NOT NULL REFERENCES tenants (id)
);

-- The latest success of each job that others depend on. No foreign keys: apply writes it, and their check would
-- wait for who holds the job.
CREATE TABLE job_completions (
    job_id       uuid        PRIMARY KEY,
    tenant_id    uuid        NOT NULL,
    completed_at timestamptz NOT NULL
) WITH (fillfactor = 50);

UPDATE jobs
SET slots = CASE WHEN job_revisions.schedule ->> 'overlap_policy' = 'queue' THEN 1
                 ELSE job_revisions.max_concurrent END
FROM job_revisions
WHERE job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
  AND (job_revisions.schedule ->> 'overlap_policy' = 'queue' OR job_revisions.max_concurrent IS NOT NULL);
UPDATE jobs SET awaited = true WHERE id IN (SELECT depends_on FROM job_dependencies);
UPDATE jobs SET watched = true
FROM job_revisions
WHERE job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
  AND (jobs.slots IS NOT NULL OR jobs.awaited
       OR job_revisions.schedule ->> 'overlap_policy' IN ('skip', 'replace'));
UPDATE queue SET watched = true, awaited = jobs.awaited
FROM jobs WHERE jobs.id = queue.job_id AND jobs.watched;
UPDATE leases SET watched = true, awaited = jobs.awaited
FROM jobs WHERE jobs.id = leases.job_id AND jobs.watched;
INSERT INTO gates (job_id, tenant_id)
SELECT id, tenant_id FROM jobs WHERE slots IS NOT NULL OR dependencies <> '[]';
INSERT INTO job_completions (job_id, tenant_id, completed_at)
SELECT jobs.id, jobs.tenant_id, max(latest.finished_at)
FROM jobs CROSS JOIN LATERAL (
    SELECT endings.outcome, endings.finished_at
    FROM executions JOIN endings ON endings.execution_id = executions.id
    WHERE executions.job_id = jobs.id
    ORDER BY executions.id DESC
    LIMIT 1000
) AS latest
WHERE jobs.awaited AND latest.outcome = 'COMPLETED'
GROUP BY jobs.id, jobs.tenant_id;

CREATE INDEX queue_watched ON queue (job_id, waits_for) WHERE watched;
CREATE INDEX queue_gated ON queue (job_id, waits_for, priority DESC, due, execution_id)
    WHERE waits_for IS NOT NULL;
CREATE INDEX leases_watched ON leases (job_id) WHERE watched;
