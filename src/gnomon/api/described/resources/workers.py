"""Workers, as they register and as people see them."""

from __future__ import annotations

from datetime import timedelta

from gnomon.api.described.call import CallDescription, Calls
from gnomon.api.described.field import (
    NUMBER_MAX,
    Fields,
    count,
    flag,
    instant,
    many,
    name,
    parts,
    seconds,
    text,
    uuid,
    whole,
    word,
)
from gnomon.api.described.resources import recurring as often
from gnomon.api.described.resources.recurring import WORKER_ID
from gnomon.api.resources.workers import Health, WorkerPage
from gnomon.client.remote.worker_protocol import DRAIN, Beat, NewWorker, WorkerAnswer
from gnomon.core.operations.workers import OFFERS_MAX, SLOTS_MAX, WorkerStatus
from gnomon.core.values.document import NAME_LENGTH_MAX
from gnomon.core.values.instants import MICROSECOND
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.errors import (
    IllegalTransition,
    WorkerNameTaken,
    WorkerNotFound,
    WorkerOfAnotherKey,
)

_KIND = name("A kind of job, which is a handler.", "http")
_QUEUE = name("A queue.", "default")
KINDS = many("The kinds that it runs.", _KIND, up_to=OFFERS_MAX)
QUEUES = many("The queues that it serves.", _QUEUE, up_to=OFFERS_MAX)
ABLE = many("What it is capable of.", often.CAPABILITY, up_to=OFFERS_MAX)
_HOST = text("The machine that it runs on.", "host-7", up_to=NAME_LENGTH_MAX)
_CAPACITY = whole("How many executions it runs at once.", 8, 1, SLOTS_MAX)
_BOOT = uuid("Tells one start of the worker from the next; a UUID that grows, such as a UUIDv7.", often.BOOT)
LEASE_SECONDS = seconds(
    "How long a lease lasts after it was claimed or renewed.", 20, MICROSECOND, timedelta(days=1)
)
NOW = instant("The time of the server.", often.STARTED)
FIELDS: Fields = {
    NewWorker: {
        "worker_id": WORKER_ID.but("Its name, which is unique among live workers."),
        "capacity": _CAPACITY,
        "kinds": KINDS.but("The kinds that it runs. Null: the same as `capabilities`."),
        "queues": QUEUES.but("The queues that it serves. Null: `default`."),
        "capabilities": ABLE,
        "hostname": _HOST.but("The machine that it runs on. Default: `unknown`."),
        "boot": _BOOT,
    },
    Beat: {
        "boot": _BOOT,
        "status": word(
            "What the worker says of itself. `draining`: it takes nothing new.", "healthy", Health
        ),
        "current_jobs": count("Not used: the server counts the leases.", 3),
        "capacity": _CAPACITY.but("How many executions it runs at once, from now on. Null: as before."),
    },
    WorkerAnswer: {
        "worker_id": WORKER_ID,
        "boot": _BOOT.but("Which start of the worker this is."),
        "status": word("What the server knows of it.", "ACTIVE", WorkerStatus),
        "is_live": flag("It takes work, as far as the server knows.", True),
        "hostname": _HOST,
        "capacity": _CAPACITY,
        "current_jobs": whole("How many executions it holds a lease on.", 3, 0, NUMBER_MAX),
        "kinds": KINDS,
        "queues": QUEUES,
        "capabilities": ABLE,
        "registered_at": instant("When it registered.", often.EARLIER),
        "last_heartbeat": instant("When it was last heard of.", often.STARTED),
        "command": word("`drain` while it shall take nothing new. Null: nothing.", DRAIN, [DRAIN]),
        "key_id": uuid("The key that registered it. Null: it works on the database itself.", often.KEY),
        "lease_seconds": LEASE_SECONDS,
        "server_time": NOW,
    },
    WorkerPage: {
        "workers": parts("A page of workers.", up_to=PAGE_LIMIT_MAX),
        "next_cursor": often.NEXT_CURSOR,
    },
}
_WORKER = {"worker_id": "worker-a1"}
OWN = (WorkerNotFound, WorkerOfAnotherKey)
CALLS: Calls = {
    "register_worker": CallDescription(
        "Register a worker",
        bodies={
            "For two kinds": {**_WORKER, "capacity": 8, "kinds": ["http", "script"], "hostname": "host-7"}
        },
        refusals=(WorkerNameTaken,),
    ),
    "beat": CallDescription(
        "Send a heartbeat",
        bodies={"It lives": {}, "It takes nothing new": {"status": "draining"}},
        refusals=OWN,
    ),
    "leave": CallDescription("Say good-bye", bodies={"Without a word": {}}, refusals=OWN),
    "list_workers": CallDescription("List workers"),
    "get_worker": CallDescription("Get a worker"),
    "drain_worker": CallDescription("Drain a worker", refusals=(IllegalTransition,)),
    "undrain_worker": CallDescription("Undrain a worker", refusals=(IllegalTransition,)),
}
