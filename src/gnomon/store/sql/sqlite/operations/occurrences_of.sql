SELECT occurrences.job_id, occurrences.nominal_time, occurrences.nominal_until, occurrences.count, occurrences.reason,
       occurrences.execution_id
FROM wanted_occurrence AS wanted
JOIN occurrences ON occurrences.job_id = wanted.job_id AND occurrences.nominal_time = wanted.nominal_time
