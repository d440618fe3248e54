SELECT api_keys.id, api_keys.name, api_keys.scopes, api_keys.created_through
FROM unnest(:wanted.id::uuid[]) AS wanted (id) JOIN api_keys ON api_keys.id = wanted.id
