"""REST: parse, call, present. Never the engine, never SQL."""

from gnomon.api.application import ROUTES, Api, application

__all__ = ["ROUTES", "Api", "application"]
