-- The gates that may open when these jobs have come to an end: their own, and those of who depends on them.
SELECT job_id FROM gates WHERE job_id IN (SELECT id FROM wanted)
UNION
SELECT job_id FROM job_dependencies WHERE depends_on IN (SELECT id FROM wanted)
ORDER BY job_id
LIMIT :limit
