-- An event that became true in this transaction, about one subject or many.
INSERT INTO events (batch, tenant_id, type, at, subjects, nominal_times)
SELECT 0, {tenant_id}, {type}, {at = :now}, {subjects = json_group_array(hex(execution_id))}, {nominal_times = NULL}
