-- The claims of the batch `change` that found no lease, and the jobs of which something was watched.
SELECT execution_id, claim, NULL::uuid AS job_id
FROM unnest(:change.execution_id::uuid[], :change.claim::integer[]) AS asked (execution_id, claim)
WHERE (SELECT count(*) FROM held) < cardinality(:change.execution_id::uuid[])
  AND (execution_id, claim) NOT IN (SELECT execution_id, claim FROM held)
UNION ALL
SELECT DISTINCT NULL::uuid, NULL::integer, job_id FROM held WHERE watched
