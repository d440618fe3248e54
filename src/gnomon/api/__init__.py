"""REST: parse, call, present. Never the engine, never SQL."""

from gnomon.api.application import ROUTES, Api, application, served_aside

__all__ = ["ROUTES", "Api", "application", "served_aside"]
