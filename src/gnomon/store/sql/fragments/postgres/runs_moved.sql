-- Runs as the batch `run_row` says.
UPDATE dag_runs
SET status = run_row.status, unended = run_row.unended, live = run_row.live, halted = run_row.halted,
    completed = run_row.completed, failed = run_row.failed, cancelled = run_row.cancelled,
    is_paused = run_row.is_paused, ends_as = run_row.ends_as, finished_at = run_row.finished_at,
    moved_at = :now, version = dag_runs.version + 1
FROM unnest(
    :run_row.id::uuid[], :run_row.status::text[], :run_row.unended::integer[], :run_row.live::integer[],
    :run_row.halted::integer[], :run_row.completed::integer[], :run_row.failed::integer[],
    :run_row.cancelled::integer[], :run_row.is_paused::boolean[], :run_row.ends_as::text[],
    :run_row.finished_at::timestamptz[]
) AS run_row (id, status, unended, live, halted, completed, failed, cancelled, is_paused, ends_as, finished_at)
WHERE dag_runs.id = run_row.id
