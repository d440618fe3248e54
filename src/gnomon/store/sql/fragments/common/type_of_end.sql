-- The event that tells of an outcome.
CASE {outcome} WHEN 'TIMEOUT' THEN 'execution.timed_out' ELSE 'execution.' || lower({outcome}) END
