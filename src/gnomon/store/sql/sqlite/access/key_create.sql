INSERT INTO api_keys (id, tenant_id, name, secret_hash, scopes, created_at, expires_at, created_through)
VALUES (:key_id, :tenant_id, :name, :secret_hash, :scopes, :created_at, :expires_at, :created_through);

INSERT INTO events (batch, tenant_id, type, at, subjects)
VALUES (0, :tenant_id, 'key.created', :created_at, json_array(hex(:key_id)))
