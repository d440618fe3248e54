-- What executions brought, as far as it is short enough to be shown in a list, and the beginning of their failures.
SELECT endings.execution_id, octet_length(result::text) > :bytes_max AS is_left_out,
       CASE WHEN octet_length(result::text) <= :bytes_max THEN result END AS result,
       failure_kind, substr(failure_message, 1, :message_length_max) AS failure_message
FROM unnest(:wanted.id::uuid[]) AS wanted (id)
JOIN endings ON endings.execution_id = wanted.id
WHERE endings.tenant_id = :tenant_id
