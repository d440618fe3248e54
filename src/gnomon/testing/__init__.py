"""For your tests: a clock that you turn by hand."""

from gnomon.testing.clock import ManualClock

__all__ = ["ManualClock"]
