"""What stands for the outside world in a test: calls and scripts of an app are not made for real."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import Any

from gnomon.app.gnomon import Gnomon
from gnomon.app.jobs.fixed_job import FixedJob
from gnomon.app.jobs.fixed_work import HTTP, SCRIPT
from gnomon.core.values.document import JSON
from gnomon.errors import InvalidInput
from gnomon.handlers.base import Context, Handler, JobFailed
from gnomon.handlers.payload import merged
from gnomon.handlers.python.arguments import as_json

PLACES = {HTTP: "json", SCRIPT: "arguments"}


def stub_handlers(app: Gnomon, stubs: Mapping[FixedJob | str, Any]) -> Collection[StubHandler]:
    """Handlers of both kinds. A stub is a result, an exception to raise, or a function of payload and
    context. Raises InvalidInput for a stub of what the app does not declare.
    """
    named = {one if isinstance(one, str) else one.name: stub for one, stub in stubs.items()}
    fixed = {name: job for name, job in app.jobs.items() if isinstance(job, FixedJob)}
    for name in sorted(named.keys() - fixed.keys()):
        known = ", ".join(sorted(fixed)) or "none"
        raise InvalidInput("stubs", f"{name!r} is no call or script of the app; there are {known}.")
    return [StubHandler(kind, list(fixed.values()), named) for kind in PLACES]


class StubHandler:
    """Runs the stubs of one kind."""

    def __init__(self, kind: str, jobs: Collection[FixedJob], stubs: Mapping[str, Any]) -> None:
        self.kind = kind
        self._jobs = [job for job in jobs if job.work.kind == kind]
        self._stubs = stubs

    def check(self, payload: JSON) -> None:
        """Jobs are checked where they are declared."""

    async def run(self, payload: JSON, context: Context) -> JSON:
        assert isinstance(payload, dict)
        job = self.job_of(payload)
        if job is None or job.name not in self._stubs:
            name = self.kind if job is None else job.name
            raise JobFailed(
                "Calls and scripts do not run in a test. "
                f"Say what {name!r} returns: stubs={{{name!r}: ...}}.",
                kind="no_stub",
                permanent=True,
            )
        stub = self._stubs[job.name]
        if isinstance(stub, BaseException):
            raise stub
        if not callable(stub):
            return as_json(stub)
        result = stub(self._with_input(payload, context), context)
        return as_json(await result if inspect.isawaitable(result) else result)

    def job_of(self, payload: Mapping[str, JSON]) -> FixedJob | None:
        """Whose payload this is. A schedule and a task have the payload of their job, but for arguments."""
        place = PLACES[self.kind]
        fixed = {key: value for key, value in payload.items() if key != place}
        said = payload.get(place)
        arguments = said if isinstance(said, dict) else {}

        def alike(job: FixedJob) -> int:
            return sum(arguments.get(key) == value for key, value in job.work.arguments.items())

        return max((job for job in self._jobs if job.work.fixed() == fixed), key=alike, default=None)

    def _with_input(self, payload: dict[str, JSON], context: Context) -> dict[str, JSON]:
        """What the worker would send, or give to the script."""
        if context.input is None:
            return payload
        place = PLACES[self.kind]
        said = payload.get(place)
        return payload | {place: merged(said if isinstance(said, dict) else {}, context.input)}


def job_name(handler: Handler, payload: JSON) -> str:
    """The name of what is called: of the function, the call or the script."""
    assert isinstance(payload, dict)
    if isinstance(handler, StubHandler):
        job = handler.job_of(payload)
        return handler.kind if job is None else job.name
    return str(payload["function"])
