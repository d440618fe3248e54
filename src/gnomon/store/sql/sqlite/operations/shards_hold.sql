-- One round of a scheduler: renew what it has, give back, take what is free, keep its seat, see everything.
-- A seat tells the others of a scheduler that has no shard yet.
UPDATE shards SET owner = '', expires_at = :now
WHERE owner = :owner AND shard IN (SELECT value FROM json_each(:give_back));

UPDATE shards SET expires_at = :until WHERE owner = :owner;

INSERT INTO shards (shard, tenant_id, owner, term, expires_at)
SELECT value, :tenant_id, :owner, 1, :until FROM json_each(:take)
WHERE value NOT IN (SELECT shard FROM shards WHERE owner = :owner)
ON CONFLICT (shard) DO UPDATE
SET owner = excluded.owner, term = shards.term + 1, expires_at = excluded.expires_at
WHERE shards.expires_at <= :now;

INSERT INTO leaders (name, tenant_id, owner, term, expires_at)
VALUES (:seat, :tenant_id, :owner, 1, :until)
ON CONFLICT (name) DO UPDATE SET expires_at = excluded.expires_at;

DELETE FROM leaders WHERE name LIKE 'scheduler/%' AND name <> :seat AND expires_at <= :now;

-- Those that have all but the number in common are one row: every scheduler reads all of them, often.
SELECT group_concat(shard) AS shards, owner, term, expires_at FROM shards GROUP BY owner, term, expires_at
UNION ALL
SELECT NULL, owner, term, expires_at FROM leaders WHERE name LIKE 'scheduler/%' AND name <> :seat
