"""The boundary to user code: what runs an execution of each kind."""
