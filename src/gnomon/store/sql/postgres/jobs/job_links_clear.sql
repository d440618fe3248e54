WITH untagged AS (DELETE FROM job_tags WHERE job_id = :job_id)
DELETE FROM job_dependencies WHERE job_id = :job_id
