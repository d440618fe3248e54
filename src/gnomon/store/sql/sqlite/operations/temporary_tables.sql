-- Batches and scratch space of a connection. A batch is filled by the driver before its statement runs.
CREATE TEMP TABLE new_job (
    id, tenant_id, name, shard, next_run_time, tags, dependencies, lane_id, kind, queue, capabilities,
    priority, timeout_seconds, max_concurrent, delivery, payload, retry, schedule, slots, watched);
CREATE TEMP TABLE job_tag (tenant_id, job_id, tag);
CREATE TEMP TABLE job_dependency (tenant_id, job_id, depends_on);
CREATE TEMP TABLE wanted (id);
CREATE TEMP TABLE passed_over (id);
CREATE TEMP TABLE wanted_revision (job_id, revision);
CREATE TEMP TABLE wanted_occurrence (job_id, nominal_time);
CREATE TEMP TABLE wanted_calendar (tenant_id, name);
CREATE TEMP TABLE used_key (id, at);
CREATE TEMP TABLE wanted_key (job_id, unique_key, execution_id);
CREATE TEMP TABLE firing (
    job_id, expected_version, expected_next_run_time, status, next_run_time, last_run_time, fires, anchor,
    first_place, last_place);
CREATE TEMP TABLE occurrence (
    job_id, nominal_time, nominal_until, count, reason, execution_id, due, waits_for, newer_than);
CREATE TEMP TABLE asked (
    execution_id, job_id, revision, lane_id, trigger, priority, due, unique_key, input, waits_for, watched,
    awaited);
CREATE TEMP TABLE picked (
    execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, claim, attempts, crashes,
    watched, awaited, in_run);
CREATE TEMP TABLE lane (id);
CREATE TEMP TABLE held (execution_id, claim);
CREATE TEMP TABLE change (
    execution_id, claim, outcome, last_attempt, attempts, result, crashes, due, failure_kind, failure_message,
    dead, expired_at, waits_for, waits_for_uncounted, if_cancelled);
CREATE TEMP TABLE saved (execution_id, claim, state, progress, saved_at);
CREATE TEMP TABLE line (execution_id, claim, number, at, level, message, context);
CREATE TEMP TABLE redrive (execution_id, new_id);
CREATE TEMP TABLE new_task (
    revision, lane_id, kind, queue, capabilities, priority, timeout_seconds, delivery, payload, retry, schedule);
CREATE TEMP TABLE wanted_task (dag_run_id, task);
CREATE TEMP TABLE task_row (
    dag_run_id, task, status, parents_left, parents_failed, parents_skipped, round, items_left, items_failed,
    items_cancelled);
CREATE TEMP TABLE run_row (
    id, status, unended, live, halted, completed, failed, cancelled, is_paused, ends_as, finished_at,
    version);
CREATE TEMP TABLE ended_run (id, outcome, result, failure_kind, failure_message);
CREATE TEMP TABLE released (
    execution_id, tenant_id, job_id, revision, dag_run_id, task, round, item, input, nominal_time, waits_for,
    priority);
CREATE TEMP TABLE backfill_time (nominal_time, execution_id);
CREATE TEMP TABLE note (dag_run_id, task, round, tenant_id, result, failure_kind, failure_message);
CREATE TEMP TABLE hold (dag_run_id, task, tenant_id, round, event, correlation, until)
