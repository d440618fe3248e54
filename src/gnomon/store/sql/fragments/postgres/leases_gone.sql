-- By key, not by place: a renewal may have moved them since this statement began.
DELETE FROM leases WHERE execution_id = ANY (ARRAY(SELECT gone.execution_id FROM {ended} AS gone))
