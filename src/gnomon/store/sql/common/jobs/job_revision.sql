SELECT * FROM job_revisions WHERE tenant_id = :tenant_id AND job_id = :job_id AND revision = :revision
