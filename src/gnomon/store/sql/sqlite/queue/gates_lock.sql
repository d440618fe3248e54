-- SQLite has one writer: who writes has locked already.
SELECT gates.job_id,
       EXISTS (SELECT 1 FROM job_dependencies WHERE job_dependencies.job_id = gates.job_id)
       OR EXISTS (SELECT 1 FROM queue WHERE queue.job_id = gates.job_id AND queue.waits_for = 'jobs')
       AS has_dependencies
FROM gates
WHERE gates.job_id IN (SELECT id FROM wanted)
ORDER BY gates.job_id
