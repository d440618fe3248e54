"""A user's verbs on a store, by noun: plain values in, values of the core out, typed errors."""

from gnomon.client.client import Client
from gnomon.client.executions.ends import Ends
from gnomon.client.executions.executions import Ask
from gnomon.client.jobs.jobs import Draft

__all__ = ["Ask", "Client", "Draft", "Ends"]
