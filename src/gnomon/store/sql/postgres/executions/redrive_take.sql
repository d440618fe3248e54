-- Mark first: whoever marks a dead letter makes its new execution.
UPDATE dead_letters SET redriven_as = redrive.new_id, redriven_at = :now
FROM unnest(:redrive.execution_id::uuid[], :redrive.new_id::uuid[]) AS redrive (execution_id, new_id)
WHERE dead_letters.execution_id = redrive.execution_id AND tenant_id = :tenant_id
  AND redriven_as IS NULL
RETURNING dead_letters.execution_id
