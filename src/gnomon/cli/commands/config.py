"""`gnomon config`: what the settings are, and where each came from."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, assert_never

import typer

from gnomon.cli.output.exits import WRONG_USAGE
from gnomon.cli.output.terminal import json_text, say
from gnomon.cli.session.options import Config, Database, LogFormat, LogLevel, read_settings
from gnomon.core.values.document import JSON
from gnomon.errors import InvalidSetting
from gnomon.settings import TABLE, Reading, Setting

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="See the settings, and where each came from."
)


class ConfigOutput(StrEnum):
    TABLE = "table"
    JSON = "json"


@app.callback()
def config() -> None:
    """Keeps `gnomon config show` a command with a name, however few commands there are."""


@app.command()
def show(
    config: Config = None,
    database: Database = None,
    log_format: LogFormat = None,
    log_level: LogLevel = None,
    output: Annotated[
        ConfigOutput, typer.Option("--output", help="For people, or for programs.", case_sensitive=False)
    ] = ConfigOutput.TABLE,
) -> None:
    """Print every setting, its value and where it came from. Passwords are hidden.

    A value that is not accepted is shown in its place with what is; the exit code is 2 then.

    Examples:
    ```
    gnomon config show
    gnomon config show --output json | jq '.settings[] | select(.origin != "the default")'
    ```
    """
    found = read_settings(config=config, database=database, log_format=log_format, log_level=log_level)
    match output:
        case ConfigOutput.TABLE:
            say(_as_table(found))
        case ConfigOutput.JSON:
            say(json_text(_as_json(found)))
        case _:
            assert_never(output)
    if found.mistakes or any(isinstance(each, InvalidSetting) for each in found.found.values()):
        raise typer.Exit(WRONG_USAGE)


def _as_json(found: Reading) -> JSON:
    settings: list[JSON] = []
    for row in TABLE:
        match found.found[row.key]:
            case Setting(value, origin):
                settings.append({"name": row.key, "value": row.kind.show(value), "origin": origin})
            case InvalidSetting() as mistake:
                settings.append({"name": row.key, "error": str(mistake), "origin": mistake.origin})
    return {
        "settings": settings,
        "mistakes": [str(mistake) for mistake in found.mistakes],
        "warnings": [*found.warnings],
    }


def _as_table(found: Reading) -> str:
    """Plain columns: values are for copying, so nothing is cut or wrapped."""
    rows = [("SETTING", "VALUE", "FROM"), *(_cells(key, each) for key, each in found.found.items())]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    lines = [f"{key:<{first}}  {value:<{second}}  {origin}" for key, value, origin in rows]
    lines += [f"Wrong: {mistake}" for mistake in found.mistakes]
    lines += [f"Warning: {warning}" for warning in found.warnings]
    return "\n".join(lines)


def _cells(key: str, each: Setting | InvalidSetting) -> tuple[str, str, str]:
    match each:
        case Setting(value, origin):
            [row] = [row for row in TABLE if row.key == key]
            return key, _cell(row.kind.show(value)), origin
        case InvalidSetting() as mistake:
            return key, f"WRONG: {mistake.value}; give {mistake.accepted}", mistake.origin
        case _:
            assert_never(each)


def _cell(value: JSON) -> str:
    match value:
        case True:
            return "on"
        case False:
            return "off"
        case list():
            return ",".join(str(each) for each in value) or "none"
        case _:
            return str(value)
