INSERT INTO api_keys (id, tenant_id, name, secret_hash, scopes, created_at, expires_at, created_through)
VALUES (:key_id, :tenant_id, :name, :secret_hash, :scopes, :created_at, :expires_at, :created_through);

@event(:tenant_id AS tenant_id, 'key.created' AS type, :created_at AS at, json_array(hex(:key_id)) AS subjects)
