INSERT INTO api_keys (id, tenant_id, name, secret_hash, scopes, created_at, expires_at)
VALUES (:key_id, :tenant_id, :name, :secret_hash, :scopes, :created_at, :expires_at)
