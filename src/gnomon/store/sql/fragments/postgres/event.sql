-- An event that became true in this transaction, about one subject or many.
INSERT INTO events (batch, tenant_id, type, at, subjects, nominal_times)
SELECT pg_current_xact_id()::text::bigint, {tenant_id}, {type}, {at = :now}, {subjects = array_agg(execution_id)},
       {nominal_times = NULL}
