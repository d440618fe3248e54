-- One file, one transaction: cursor, ledger, executions and queue move together or not at all.
DELETE FROM firing WHERE NOT EXISTS (
    SELECT 1 FROM jobs
    WHERE jobs.id = firing.job_id AND jobs.version = firing.expected_version
      AND jobs.next_run_time = firing.expected_next_run_time);

-- A nominal time that has its outcome gets no second one, and stops nobody.
DELETE FROM occurrence WHERE EXISTS (
    SELECT 1 FROM occurrences
    WHERE occurrences.job_id = occurrence.job_id AND occurrences.nominal_time = occurrence.nominal_time);

INSERT INTO occurrences (tenant_id, job_id, nominal_time, nominal_until, count, reason, execution_id,
                         due, recorded_at)
SELECT jobs.tenant_id, job_id, nominal_time, nominal_until, count, reason, execution_id, due, :now
FROM occurrence JOIN jobs ON jobs.id = occurrence.job_id
WHERE job_id IN (SELECT job_id FROM firing);

@execution(job.tenant_id AS tenant_id, job.revision AS revision, 'schedule' AS trigger,
           job.priority AS priority, nominal_time)
FROM occurrence JOIN current_jobs AS job ON job.id = occurrence.job_id
WHERE execution_id IS NOT NULL AND job_id IN (SELECT job_id FROM firing);

@waiting(job.tenant_id AS tenant_id, occurrence.job_id AS job_id, job.revision AS revision,
         job.lane_id AS lane_id, job.priority AS priority, nominal_time, waits_for, newer_than,
         jobs.watched AS watched, jobs.awaited AS awaited)
FROM occurrence
JOIN current_jobs AS job ON job.id = occurrence.job_id
JOIN jobs ON jobs.id = occurrence.job_id
WHERE execution_id IS NOT NULL AND occurrence.job_id IN (SELECT job_id FROM firing);

@event(jobs.tenant_id AS tenant_id,
       CASE WHEN reason IS NULL THEN 'occurrence.fired' ELSE 'occurrence.skipped' END AS type,
       json_group_array(hex(job_id)) AS subjects, json_group_array(nominal_time) AS nominal_times)
FROM occurrence JOIN jobs ON jobs.id = occurrence.job_id
WHERE job_id IN (SELECT job_id FROM firing) AND @is_followed
GROUP BY jobs.tenant_id, reason IS NULL;

@event(jobs.tenant_id AS tenant_id, 'execution.created' AS type)
FROM occurrence JOIN jobs ON jobs.id = occurrence.job_id
WHERE execution_id IS NOT NULL AND job_id IN (SELECT job_id FROM firing) AND @is_followed
GROUP BY jobs.tenant_id;

UPDATE jobs
SET status = firing.status, next_run_time = firing.next_run_time, last_run_time = firing.last_run_time,
    fires = firing.fires, anchor = firing.anchor
FROM firing
WHERE jobs.id = firing.job_id;

SELECT job_id FROM firing
