"""`gnomon job create` and `gnomon job update`: a job from options and files."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gnomon.cli.files.job_options import (
    After,
    AllowUnknownKind,
    At,
    Cron,
    Delay,
    Every,
    File,
    Kind,
    Payload,
    Priority,
    Queue,
    Retries,
    Set,
    Tags,
    Timeout,
    Timezone,
    form_of,
)
from gnomon.cli.files.shapes import check_has_work
from gnomon.cli.session.session import Job, Session, with_session
from gnomon.errors import InvalidInput, JobNotFound, ServerRefused

Version = Annotated[
    int | None, typer.Option("--if-version", help="Only if it is still at this version.", metavar="NUMBER")
]


@with_session
def create(
    session: Session,
    name: Annotated[str | None, typer.Argument(help="Unique among your jobs.")] = None,
    kind: Kind = None,
    payload: Payload = None,
    cron: Cron = None,
    timezone: Timezone = None,
    every: Every = None,
    at: At = None,
    delay: Delay = None,
    retries: Retries = None,
    timeout: Timeout = None,
    priority: Priority = None,
    queue: Queue = None,
    tags: Tags = None,
    after: After = None,
    fields: Set = None,
    file: File = None,
    allow_unknown_kind: AllowUnknownKind = False,
) -> None:
    """Make a job. Without a schedule it runs when it is triggered.

    Examples:
    ```
    gnomon job create report --payload '{"url": "https://example.org"}' --cron '0 9 * * *'
    gnomon job create tidy -f tidy.yaml --every 5m --set overlap_policy=skip
    ```
    """
    form = form_of(
        file, fields, name=name, kind=kind, payload=payload, cron=cron, timezone=timezone, every=every, at=at,
        delay=delay, retries=retries, timeout=timeout, priority=priority, queue=queue, tags=tags, after=after,
        allow_unknown_kind=allow_unknown_kind,
    )  # fmt: skip
    if "name" not in form:
        raise InvalidInput("name", "is missing: give it as the first word, or in the file.")
    check_has_work(form, "with --payload, --kind or --file")
    session.show(_send(session, "POST", "/v1/jobs", form))


@with_session
def update(
    session: Session,
    job: Job,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    kind: Kind = None,
    payload: Payload = None,
    cron: Cron = None,
    timezone: Timezone = None,
    every: Every = None,
    at: At = None,
    delay: Delay = None,
    retries: Retries = None,
    timeout: Timeout = None,
    priority: Priority = None,
    queue: Queue = None,
    tags: Tags = None,
    after: After = None,
    fields: Set = None,
    file: File = None,
    allow_unknown_kind: AllowUnknownKind = False,
    if_version: Version = None,
) -> None:
    """Change the fields of a job that are given; the rest stays. `--set FIELD=null` takes one back.

    Examples:
    ```
    gnomon job update report --cron '0 8 * * 1-5'
    gnomon job update report --set timeout_seconds=null --if-version 4
    ```
    """
    form = form_of(
        file, fields, name=name, kind=kind, payload=payload, cron=cron, timezone=timezone, every=every, at=at,
        delay=delay, retries=retries, timeout=timeout, priority=priority, queue=queue, tags=tags, after=after,
        allow_unknown_kind=allow_unknown_kind,
    )  # fmt: skip
    if if_version is not None:
        form["version"] = if_version
    session.show(_send(session, "PUT", session.job_path(job), form))


def _send(session: Session, method: str, path: str, form: dict[str, Any]) -> Any:
    try:
        return session.server.send(method, path, form)
    except ServerRefused as error:
        if error.code == JobNotFound.code:
            for word in form.get("dependencies") or ():
                session.job_or_dag_id(str(word))  # The refusal again, with a guess.
        raise
