-- expand: executions whose worker died wait for a worker that runs nothing else.

CREATE INDEX queue_suspects ON queue (lane_id, due, execution_id) WHERE waits_for = 'empty_worker';

-- A worker that claims nothing until it is empty, for a suspect of the lane. One a lane, and for a while only.
CREATE TABLE suspect_reservations (
    lane_id        integer     NOT NULL PRIMARY KEY,
    worker         text        NOT NULL,
    reserved_until timestamptz NOT NULL,
    give_up_at     timestamptz NOT NULL,
    rest_until     timestamptz NOT NULL
);
