SELECT id FROM tenants WHERE max_concurrent IS NOT NULL
