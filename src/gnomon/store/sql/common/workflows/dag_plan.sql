SELECT definition, tasks FROM dag_revisions WHERE dag_id = :dag_id AND base = :base
