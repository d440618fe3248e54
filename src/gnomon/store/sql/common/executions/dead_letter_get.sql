SELECT * FROM dead_letters WHERE tenant_id = :tenant_id AND execution_id = :execution_id
