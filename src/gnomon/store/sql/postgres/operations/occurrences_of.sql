SELECT occurrences.job_id, occurrences.nominal_time, occurrences.nominal_until, occurrences.count, occurrences.reason,
       occurrences.execution_id
FROM unnest(:wanted_occurrence.job_id::uuid[], :wanted_occurrence.nominal_time::timestamptz[])
    AS wanted (job_id, nominal_time)
JOIN occurrences ON occurrences.job_id = wanted.job_id AND occurrences.nominal_time = wanted.nominal_time
