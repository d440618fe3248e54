"""A job that calls no function of the app: its payload is written down when it is declared.

`app.http_job` and `app.script_job` make these. An argument of a run goes over what the payload says under one
of its keys: `json` of an HTTP job, `arguments` of a script.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from gnomon.app.jobs.calls import plain
from gnomon.app.jobs.declaration import Declaration
from gnomon.app.jobs.declared_job import DeclaredJob
from gnomon.app.jobs.fixed_work import FixedWork
from gnomon.app.jobs.job_call import JobConnector
from gnomon.app.workflows.sketch import DRAWING
from gnomon.core.values.document import JSON, Document
from gnomon.core.workflows.references import escaped
from gnomon.errors import InvalidInput


class FixedJob(DeclaredJob[Any]):
    """What `app.http_job` and `app.script_job` make. A run of it returns JSON."""

    def __init__(self, app: JobConnector, name: str, work: FixedWork, declaration: Declaration) -> None:
        self.work = work
        definition = declaration.definition(work.kind, Document.of(dict(work.payload), field="payload"))
        super().__init__(app, name, definition, declaration.tags, Any)

    def __call__(self, **arguments: Any) -> Any:
        """In a function of `@app.dag`: a task that does the same, with these arguments."""
        if DRAWING.get() is None:
            raise InvalidInput(
                self.name,
                f"is a job of the kind {self.work.kind!r}, which a worker runs: use `await ….enqueue()`.",
            )
        return self.task()(**arguments)

    def map(self, items: Any, /, *args: Any, **kwargs: Any) -> NoReturn:
        """Its arguments have no order, so none of them is the first."""
        raise InvalidInput(
            self.name, 'has arguments by name only; write job.task(over=items)(name="${item}").'
        )

    def split(
        self, given: Mapping[str, Any], options: Collection[str]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the declaration names is an argument, and what it does not name may be an option."""
        own = self.work.arguments.keys()
        chosen = {name: value for name, value in given.items() if name in options and name not in own}
        return {name: value for name, value in given.items() if name not in chosen}, chosen

    def encoded(self, arguments: Mapping[str, Any]) -> dict[str, JSON]:
        self._check_open(arguments)
        return plain(arguments)

    def payload(self, values: dict[str, JSON]) -> Document:
        if not values:
            return self.definition.payload
        merged = self.work.fixed() | {self.work.place: self.work.arguments | values}
        return Document.of(merged, field="payload")

    def task_payload(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if args:
            raise InvalidInput("arguments", f"{self.name!r} has arguments by name only.")
        self._check_open(kwargs)
        said: dict[str, Any] = {key: _literal(value) for key, value in self.work.payload.items()}
        return said | {self.work.place: said.get(self.work.place, {}) | kwargs} if kwargs else said

    def _check_open(self, arguments: Collection[str]) -> None:
        if self.work.closed is not None and arguments:
            raise InvalidInput(f"arguments.{min(arguments)}", self.work.closed)


def _literal(value: JSON) -> Any:
    """The same where references are read: shells and templates have `${…}` of their own."""
    match value:
        case str():
            return escaped(value)
        case dict():
            return {key: _literal(inner) for key, inner in value.items()}
        case list():
            return [_literal(inner) for inner in value]
        case _:
            return value
