SELECT current_executions.* FROM wanted JOIN current_executions USING (id) WHERE tenant_id = :tenant_id
