-- The oldest come first; as soon as one of them is young, so are all others.
DELETE FROM events WHERE (batch, position) IN (
    SELECT batch, position FROM (SELECT batch, position, at FROM events ORDER BY batch, position LIMIT :limit) AS oldest
    WHERE at < :before)
RETURNING position
