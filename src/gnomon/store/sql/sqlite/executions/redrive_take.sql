UPDATE dead_letters SET redriven_as = redrive.new_id, redriven_at = :now
FROM redrive
WHERE dead_letters.execution_id = redrive.execution_id AND tenant_id = :tenant_id
  AND redriven_as IS NULL
RETURNING execution_id
