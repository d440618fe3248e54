SELECT wanted.id AS job_id,
       (SELECT count(*) FROM leases WHERE leases.job_id = wanted.id AND leases.watched)
       + (SELECT count(*) FROM queue WHERE queue.job_id = wanted.id AND queue.watched) AS live
FROM unnest(:wanted.id::uuid[]) AS wanted (id)
