-- Into `picked`, the first that wait in the lanes: by priority, due time and id.
DELETE FROM picked;

INSERT INTO picked
SELECT queue.execution_id, tenant_id, job_id, revision, queue.lane_id, queue.priority, queue.due,
       nominal_time, claim + 1, attempts, crashes, watched, awaited, in_run
FROM json_each(:lane_ids) AS lane CROSS JOIN json_each(:priorities) AS level CROSS JOIN queue
WHERE {condition = true} AND queue.execution_id IN (
    SELECT waiting.execution_id FROM queue AS waiting
    WHERE waiting.lane_id = lane.value AND waiting.priority = level.value AND waiting.waits_for IS NULL
      AND waiting.due <= :now
    ORDER BY waiting.due, waiting.execution_id
    LIMIT :limit)
ORDER BY queue.priority DESC, queue.due, queue.execution_id
LIMIT :limit
