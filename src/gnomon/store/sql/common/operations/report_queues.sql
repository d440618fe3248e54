-- Waiting work by queue and state; how long the oldest that could run has waited.
SELECT lanes.queue,
       CASE WHEN queue.waits_for IS NULL AND queue.due <= :now THEN 'queued' ELSE 'pending' END AS state,
       count(*) AS depth,
       min(CASE WHEN queue.waits_for IS NULL AND queue.due <= :now THEN queue.due END) AS due
FROM queue JOIN lanes ON lanes.id = queue.lane_id
GROUP BY 1, 2
ORDER BY 3 DESC
LIMIT :limit
