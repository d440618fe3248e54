-- One round of a scheduler: renew what it has, give back, take what is free, keep its seat, see everything.
-- A seat tells the others of a scheduler that has no shard yet.
UPDATE shards
SET owner = CASE WHEN shard IN (SELECT value FROM json_each(:give_back)) THEN '' ELSE owner END,
    expires_at = CASE WHEN shard IN (SELECT value FROM json_each(:give_back)) THEN :now ELSE :until END
WHERE owner = :owner;

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

SELECT shard, owner, term, expires_at FROM shards
UNION ALL
SELECT NULL, owner, term, expires_at FROM leaders WHERE name LIKE 'scheduler/%' AND name <> :seat
