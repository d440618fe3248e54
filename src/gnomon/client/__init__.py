"""A user's verbs on a store, by noun: plain values in, values of the core out, typed errors."""

from gnomon.client.client import Client
from gnomon.client.executions import Ask
from gnomon.client.jobs import Draft
from gnomon.client.waiting import Ends

__all__ = ["Ask", "Client", "Draft", "Ends"]
