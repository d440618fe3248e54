-- Whether a tenant has a valid admin key besides this one.
SELECT EXISTS (
    SELECT 1 FROM api_keys
    WHERE tenant_id = :tenant_id AND id <> :key_id
      AND EXISTS (SELECT 1 FROM json_each(scopes) WHERE value = 'admin')
      AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
) AS known
