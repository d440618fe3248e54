-- What a transaction does to runs of workflows, noted by itself. Only a simulated world installs this.
CREATE TEMP TABLE noted (
    number INTEGER PRIMARY KEY, tx INTEGER, what TEXT, run BLOB, dag BLOB, task INTEGER, round INTEGER,
    item INTEGER, job BLOB, rev INTEGER, word TEXT
);

CREATE TEMP TRIGGER noted_release AFTER INSERT ON main.executions
WHEN NEW.dag_run_id IS NOT NULL
BEGIN
    INSERT INTO noted (tx, what, run, dag, task, round, item, job, rev, word)
    VALUES (this_tx(), 'release', NEW.id, NEW.dag_run_id, NEW.task, NEW.round, NEW.item, NEW.job_id, NEW.revision, NULL);
END;

CREATE TEMP TRIGGER noted_start AFTER INSERT ON main.dag_runs
WHEN NEW.has_tasks
BEGIN
    INSERT INTO noted (tx, what, run, dag, task, round, item, job, rev, word)
    VALUES (this_tx(), 'start', NEW.id, NEW.id, NULL, NULL, NULL, NEW.dag_id, NEW.base, NEW.ends_as);
END;

CREATE TEMP TRIGGER noted_stopped AFTER UPDATE OF ends_as ON main.dag_runs
WHEN NEW.ends_as IS NOT NULL AND OLD.ends_as IS NULL
BEGIN
    INSERT INTO noted (tx, what, run, dag, task, round, item, job, rev, word)
    VALUES (this_tx(), 'stopped', NEW.id, NEW.id, NULL, NULL, NULL, NULL, NULL, NEW.ends_as);
END;

CREATE TEMP TRIGGER noted_born AFTER INSERT ON main.task_instances
WHEN NEW.status <> 'WAITING'
BEGIN
    INSERT INTO noted (tx, what, run, dag, task, round, item, job, rev, word)
    VALUES (this_tx(), 'node', NULL, NEW.dag_run_id, NEW.task, NEW.round, NULL, NULL, NULL, NEW.status);
END;

CREATE TEMP TRIGGER noted_node AFTER UPDATE ON main.task_instances
WHEN NEW.status <> OLD.status OR NEW.round <> OLD.round
BEGIN
    INSERT INTO noted (tx, what, run, dag, task, round, item, job, rev, word)
    VALUES (this_tx(), 'node', NULL, NEW.dag_run_id, NEW.task, NEW.round, NULL, NULL, NULL, NEW.status);
END;

CREATE TEMP TRIGGER noted_ending AFTER INSERT ON main.endings
BEGIN
    INSERT INTO noted (tx, what, run, dag, task, round, item, job, rev, word)
    VALUES (this_tx(), 'ending', NEW.execution_id, NULL, NULL, NULL, NEW.last_attempt IS NULL, NULL, NULL, NEW.outcome);
END;

CREATE TEMP TRIGGER noted_again AFTER DELETE ON main.endings
BEGIN
    INSERT INTO noted (tx, what, run, dag, task, round, item, job, rev, word)
    VALUES (this_tx(), 'again', OLD.execution_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
END;

CREATE TEMP TRIGGER noted_stop AFTER UPDATE OF cancel_requested ON main.leases
WHEN NEW.cancel_requested AND NOT OLD.cancel_requested
BEGIN
    INSERT INTO noted (tx, what, run, dag, task, round, item, job, rev, word)
    VALUES (this_tx(), 'stop', NEW.execution_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
END;
