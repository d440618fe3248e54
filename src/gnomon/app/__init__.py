"""The composition root: the only place that picks concrete classes."""

from gnomon.app.processes.opening import (
    Inspection,
    alone_on,
    dialect_of,
    inspect,
    open_database,
    open_hints,
    open_store,
)

__all__ = ["Inspection", "alone_on", "dialect_of", "inspect", "open_database", "open_hints", "open_store"]
