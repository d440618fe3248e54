SELECT current_setting('server_version_num')::integer / 10000 AS version,
       current_setting('server_version') AS release,
       pg_is_in_recovery() AS in_recovery,
       current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS full_page_writes,
       current_setting('synchronous_commit') AS synchronous_commit,
       current_setting('server_encoding') AS encoding
