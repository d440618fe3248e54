-- expand: how an API key was made.

-- NULL: by a release that did not keep it.
ALTER TABLE api_keys ADD COLUMN created_through text;
