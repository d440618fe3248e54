-- The oldest come first; as soon as one of them is young, so are all others.
DELETE FROM events WHERE position IN (
    SELECT position FROM (SELECT position, at FROM events ORDER BY position LIMIT :limit) AS oldest
    WHERE at < :before)
RETURNING position
