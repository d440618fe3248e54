-- All that the store did, in order. Within one statement: what ended, a run that was asked for, its beginning, its tasks,
-- what they let begin, and which worker claims it.
SELECT number, max(at) OVER statement AS at, tx, who, what, facts, pg_xact_commit_timestamp(tx::text::xid) AS committed
FROM campaign_events
WINDOW statement AS (PARTITION BY tx, said)
ORDER BY min(number) OVER statement,
         CASE WHEN what = 'born' AND facts ->> 'dag_run_id' IS NULL THEN 1
              WHEN what = 'run' THEN 2
              WHEN what IN ('run_stop', 'run_hold') THEN 3
              WHEN what = 'task' THEN 4
              WHEN what = 'born' THEN 5
              WHEN what = 'claim' THEN 6
              ELSE 0 END,
         number
