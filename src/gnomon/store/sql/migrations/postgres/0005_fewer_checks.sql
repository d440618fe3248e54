-- expand: no CHECKs on the tables that every execution and every task writes.

-- PostgreSQL reads the text of each CHECK and plans it anew for every statement that writes a row of its table.
-- Between two tasks of a workflow these were 32 of them. The tests have them all the same: see
-- docs/adr/0024-checks-in-tests.md.

ALTER TABLE executions
    DROP CONSTRAINT executions_priority_check,
    DROP CONSTRAINT executions_trigger_check;

ALTER TABLE endings
    DROP CONSTRAINT endings_check,
    DROP CONSTRAINT endings_check1,
    DROP CONSTRAINT endings_check2,
    DROP CONSTRAINT endings_check3,
    DROP CONSTRAINT endings_claim_check,
    DROP CONSTRAINT endings_outcome_check;

ALTER TABLE queue
    DROP CONSTRAINT queue_check,
    DROP CONSTRAINT queue_check1,
    DROP CONSTRAINT queue_claim_check,
    DROP CONSTRAINT queue_priority_check,
    DROP CONSTRAINT queue_waits_for_check;

ALTER TABLE leases
    DROP CONSTRAINT leases_check,
    DROP CONSTRAINT leases_check1,
    DROP CONSTRAINT leases_claim_check;

ALTER TABLE dag_runs
    DROP CONSTRAINT dag_runs_cancelled_check,
    DROP CONSTRAINT dag_runs_check,
    DROP CONSTRAINT dag_runs_check1,
    DROP CONSTRAINT dag_runs_check2,
    DROP CONSTRAINT dag_runs_check3,
    DROP CONSTRAINT dag_runs_check4,
    DROP CONSTRAINT dag_runs_completed_check,
    DROP CONSTRAINT dag_runs_ends_as_check,
    DROP CONSTRAINT dag_runs_failed_check,
    DROP CONSTRAINT dag_runs_nesting_check,
    DROP CONSTRAINT dag_runs_priority_check,
    DROP CONSTRAINT dag_runs_status_check,
    DROP CONSTRAINT dag_runs_unended_check;

ALTER TABLE task_instances
    DROP CONSTRAINT task_instances_items_cancelled_check,
    DROP CONSTRAINT task_instances_items_failed_check,
    DROP CONSTRAINT task_instances_items_left_check,
    DROP CONSTRAINT task_instances_parents_failed_check,
    DROP CONSTRAINT task_instances_parents_left_check,
    DROP CONSTRAINT task_instances_parents_skipped_check,
    DROP CONSTRAINT task_instances_round_check,
    DROP CONSTRAINT task_instances_status_check;
