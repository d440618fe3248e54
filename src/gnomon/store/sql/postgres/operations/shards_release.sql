WITH freed AS (
    UPDATE shards SET owner = '', expires_at = :now WHERE owner = :owner
)
DELETE FROM leaders WHERE name = :seat
