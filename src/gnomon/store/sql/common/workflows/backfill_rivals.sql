-- Live ones of the same workflow that share some of the range.
SELECT id FROM backfills
WHERE dag_id = :dag_id AND finished_at IS NULL AND first_time <= :last_time AND last_time >= :first_time
ORDER BY id
LIMIT 1
