WITH tagged AS (
    INSERT INTO job_tags (tenant_id, job_id, tag)
    SELECT * FROM unnest(:job_tag.tenant_id::uuid[], :job_tag.job_id::uuid[], :job_tag.tag::text[])
)
INSERT INTO job_dependencies (tenant_id, job_id, depends_on)
SELECT * FROM unnest(
    :job_dependency.tenant_id::uuid[], :job_dependency.job_id::uuid[], :job_dependency.depends_on::uuid[]
)
