"""Gnomon: cron as a service, a durable job queue and DAG workflows in one program."""

__version__ = "0.1.0"
