"""Connections that cost without asking for anything: which they are, and how they are closed.

The server accepts every connection and parses requests. The door watches the server's sockets from outside:
`sockets` reads from the kernel how much has arrived on each, `watch` decides which of them must go, and
`doorman` closes those. `gnomon.api.serving.presence` knows which have a request under way; those are never
touched.
"""

from __future__ import annotations

from gnomon.app.door.doorman import Doorman
from gnomon.app.door.files import room_for_connections
from gnomon.app.door.sockets import IS_SUPPORTED
from gnomon.app.door.watch import Limits

__all__ = ["IS_SUPPORTED", "Doorman", "Limits", "room_for_connections"]
