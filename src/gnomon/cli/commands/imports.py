"""`gnomon import`: jobs from elsewhere."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gnomon.cli.commands.apply import DryRun, carry_out
from gnomon.cli.files.crontab import EVERYWHERE, CrontabEntry, read_crontab
from gnomon.cli.files.job_options import read_text
from gnomon.cli.files.plan import Manifest
from gnomon.cli.output.exits import FAILED
from gnomon.cli.output.tables import Output, note, show_plain
from gnomon.cli.output.terminal import printable, say
from gnomon.cli.session.session import Session, Yes, with_session
from gnomon.errors import ServerRefused

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", help="Import jobs from elsewhere.")

FIRES = 3


@app.callback()
def importing() -> None:
    """Keeps `gnomon import crontab` a command with a name, however few commands there are."""


@app.command()
@with_session
def crontab(
    session: Session,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A crontab; - is stdin.")],
    timezone: Annotated[str, typer.Option(metavar="ZONE", help="That of its machine.")] = "UTC",
    system: Annotated[bool, typer.Option("--system", help="It has a column for the user.")] = False,
    owner: Annotated[str, typer.Option(help="Under which owner the jobs are applied.")] = "crontab",
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Show what each line of a crontab becomes, when it fires next and what differs; ask; make the jobs.

    Examples:
    ```
    crontab -l | gnomon import crontab - --timezone Europe/Berlin --dry-run
    gnomon import crontab /etc/crontab --system
    ```
    """
    entries = list(read_crontab(read_text(file, field="FILE"), timezone=timezone, has_user=system))
    shown = [_looked_up(session, entry) for entry in entries]
    if session.output is not Output.TABLE:
        show_plain(shown, session.output)
    else:
        _show(shown)
    for words in EVERYWHERE if entries else ():
        note(f"note: {words}")
    if any(one["error"] for one in shown):
        note("nothing was made; repair these lines, or take them out.")
        raise typer.Exit(FAILED)
    forms = [entry.form for entry in entries if entry.form is not None]
    if not dry_run:
        plan = Session(session.server, Output.TABLE)
        carry_out(plan, Manifest(owner, forms), adopt=False, prune=False, dry_run=False, yes=yes)


def _looked_up(session: Session, entry: CrontabEntry) -> dict[str, Any]:
    fires: list[str] = []
    error = None
    if entry.form is not None:
        form = {word: entry.form[word] for word in ("name", "cron", "timezone")} | {"limit": FIRES}
        try:
            fires = [
                fire["local_time"] for fire in session.server.post("/v1/schedules/preview", form)["fires"]
            ]
        except ServerRefused as refused:
            if refused.http_status != 400:
                raise
            error = str(refused)
    return {
        "line": entry.number,
        "text": entry.text,
        "job": entry.form,
        "next_fires": fires,
        "warnings": entry.warnings,
        "error": error,
    }


def _show(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        say(f"line {line['line']}: {printable(line['text'])}")
        if line["job"] is None:
            say("    is left out")
        else:
            job = line["job"]
            say(printable(f"    becomes {job['name']!r}: {job['cron']} in {job['timezone']}"))
            say(printable(f"    runs {job['payload']['interpreter']}: {job['payload']['script']}"))
        for fire in line["next_fires"]:
            say(printable(f"    fires {fire}"))
        for warning in line["warnings"]:
            say(printable(f"    differs: {warning}"))
        if line["error"]:
            say(printable(f"    wrong: {line['error']}"))
