-- The gates that may open when these jobs have come to an end: their own, and those of who depends on them.
SELECT job_id FROM gates WHERE job_id = ANY (:wanted.id::uuid[])
UNION
SELECT job_id FROM job_dependencies WHERE depends_on = ANY (:wanted.id::uuid[])
ORDER BY job_id
LIMIT :limit
