-- In the order of ids, so that two that let in cannot wait for each other. What is counted under this lock is
-- counted by the statements that follow: this one may be older than those who held it before.
SELECT gates.job_id,
       EXISTS (SELECT FROM job_dependencies WHERE job_dependencies.job_id = gates.job_id)
       OR EXISTS (SELECT FROM queue WHERE queue.job_id = gates.job_id AND queue.waits_for = 'jobs')
       AS has_dependencies
FROM gates
WHERE gates.job_id = ANY (:wanted.id::uuid[])
ORDER BY gates.job_id
FOR UPDATE OF gates
