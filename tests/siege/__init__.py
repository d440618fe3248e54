"""Clients that hold connections and ask for nothing: a node answers the others and gets rid of these.

Everything stays on this machine: a node of its own, and connections from addresses of the loopback interface.
"""
