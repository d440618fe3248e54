-- One round of a scheduler: renew what it has, give back, take what is free, keep its seat, see everything.
-- A seat tells the others of a scheduler that has no shard yet. Each part touches rows that no other touches.
WITH kept AS (
    UPDATE shards
    SET owner = CASE WHEN shard = ANY (:give_back::smallint[]) THEN '' ELSE owner END,
        expires_at = CASE WHEN shard = ANY (:give_back::smallint[]) THEN :now::timestamptz ELSE :until END
    WHERE owner = :owner
    RETURNING shard, owner, term, expires_at
), taken AS (
    INSERT INTO shards (shard, tenant_id, owner, term, expires_at)
    SELECT wanted.shard, :tenant_id::uuid, :owner, 1, :until
    FROM unnest(:take::smallint[]) AS wanted (shard)
    WHERE NOT EXISTS (SELECT FROM shards WHERE shards.shard = wanted.shard AND shards.owner = :owner)
    ON CONFLICT (shard) DO UPDATE
    SET owner = excluded.owner, term = shards.term + 1, expires_at = excluded.expires_at
    WHERE shards.expires_at <= :now
    RETURNING shard, owner, term, expires_at
), seated AS (
    INSERT INTO leaders (name, tenant_id, owner, term, expires_at)
    VALUES (:seat, :tenant_id, :owner, 1, :until)
    ON CONFLICT (name) DO UPDATE SET expires_at = excluded.expires_at
), cleared AS (
    DELETE FROM leaders WHERE name LIKE 'scheduler/%' AND name <> :seat AND expires_at <= :now
), seen AS (
    SELECT shard, owner, term, expires_at FROM kept
    UNION ALL
    SELECT shard, owner, term, expires_at FROM taken
    UNION ALL
    SELECT shard, owner, term, expires_at FROM shards
    WHERE owner <> :owner AND shard NOT IN (SELECT taken.shard FROM taken)
)
-- Those that have all but the number in common are one row: every scheduler reads all of them, often.
SELECT string_agg(shard::text, ',') AS shards, owner, term, expires_at FROM seen GROUP BY owner, term, expires_at
UNION ALL
SELECT NULL, owner, term, expires_at FROM leaders WHERE name LIKE 'scheduler/%' AND name <> :seat AND expires_at > :now
