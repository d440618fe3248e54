"""What runs as a process: its services, signals, probes, the API beside it, and how it ends.

In: settings.
Out: a running engine. The only room that picks concrete stores, hints and servers.
Kept inside: `assembly`, `attached_apps`, `desk`, `garbage`, `leaving`, `patience`, `worker_parts`.
"""
