-- What a decision about runs that are locked writes: rows of tasks and of runs as they shall be, and what begins.
@tasks_moved;

@runs_moved;

@tasks_begin
