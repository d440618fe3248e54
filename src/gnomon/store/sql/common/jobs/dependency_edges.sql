SELECT job_id, depends_on FROM job_dependencies WHERE tenant_id = :tenant_id
