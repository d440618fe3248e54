-- expand: what waits for a slot, by due time, so that a sweep comes when the first of it is due.

CREATE INDEX queue_slot_due ON queue (due) WHERE waits_for = 'slot';
