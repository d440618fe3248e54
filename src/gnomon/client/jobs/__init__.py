"""What a user does with jobs, schedules and calendars.

In: drafts and wishes as plain values.
Out: jobs as the store has them now. Changes are decided by the core and tried again when the job fired in
between.
Kept inside: `batched_reads`.
"""
