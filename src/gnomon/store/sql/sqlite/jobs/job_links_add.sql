INSERT INTO main.job_tags (tenant_id, job_id, tag) SELECT tenant_id, job_id, tag FROM job_tag;

INSERT INTO main.job_dependencies (tenant_id, job_id, depends_on)
SELECT tenant_id, job_id, depends_on FROM job_dependency
