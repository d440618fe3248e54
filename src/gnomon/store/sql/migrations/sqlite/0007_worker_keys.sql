-- expand: which key speaks for a worker.

-- A worker that sits on the store has none.
ALTER TABLE workers ADD COLUMN key_id BLOB;
