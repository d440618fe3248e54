"""Draws the picture of the README: the live view of `gnomon up --demo`, after it has run for a while.

`make docs-picture` runs the real thing on a file that is gone afterwards, and writes docs/live-view.svg. The
times in it are those of the moment. The jobs, and what happens to them, are the same each time.
"""

from __future__ import annotations

import asyncio
import io
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from rich.live import Live
from rich.terminal_theme import TerminalTheme

from gnomon.app.demo import add_demo_jobs
from gnomon.app.processes.engine import EngineOptions, open_engine
from gnomon.app.processes.opening import open_database
from gnomon.app.processes.worker_parts import WorkerOptions
from gnomon.cli.output.live import LiveView
from gnomon.cli.output.terminal import Screen
from gnomon.core.executions.execution import WorkerId
from gnomon.core.operations.workers import Registration
from gnomon.handlers.discovery import discover
from gnomon.settings import HandlerSettings
from gnomon.store.schema.migrations import migrate

PICTURE = Path(__file__).with_name("live-view.svg")
SECONDS = 30.6  # By then one job is a dead letter, one came through at its third attempt, and one is at work.
COLUMNS = 104
SLOTS = 8
NEXT_STEP = ["ready at http://127.0.0.1:8484. Next, in another terminal:", "gnomon job list"]

# Dark, with the colours of the picture told apart also by those who see few.
THEME = TerminalTheme(
    (22, 27, 34),
    (230, 237, 243),
    [(110, 118, 129), (255, 123, 114), (86, 211, 100), (227, 179, 65), (121, 192, 255), (210, 168, 255),
     (57, 197, 207), (230, 237, 243)],
)  # fmt: skip

# As rich draws it, but for its fonts, which would be fetched from elsewhere: each reader has one.
SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img"
     aria-label="The live view of gnomon up --demo: a table of jobs, and the latest events">
    <style>
    .{unique_id}-matrix {{
        font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
        font-size: {char_height}px;
        line-height: {line_height}px;
    }}
    .{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
    {styles}
    </style>
    <defs>
    <clipPath id="{unique_id}-clip-terminal">
      <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
    </clipPath>
    {lines}
    </defs>
    {chrome}
    <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">
    {matrix}
    </g>
    </g>
</svg>
"""


async def watched(database: str, seconds: float) -> str:
    """Runs the demo for so long, and returns the last picture of its live view."""
    await _made(database)
    handlers = discover(HandlerSettings()).registry
    worker = Registration(WorkerId("here"), uuid4(), "here", SLOTS, handlers.kinds, frozenset({"default"}))
    options = EngineOptions(database, seed=1, worker=WorkerOptions(worker, handlers))
    async with open_engine(options) as engine:
        await add_demo_jobs(engine)
        view = LiveView(engine, is_narrow=False, next_step=NEXT_STEP)
        engine.telemetry.listeners.append(view.see)
        running = asyncio.create_task(engine.node.run())
        with suppress(TimeoutError), Live(console=_screen(), auto_refresh=False) as live:
            async with asyncio.timeout(seconds):
                await view.keep_showing(live)
        screen = _screen()
        screen.print(view.render())
        engine.node.drain()
        engine.node.hurry()
        await running
    picture = screen.export_svg(title="gnomon up --demo", theme=THEME, code_format=SVG, unique_id="gnomon")
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


async def _made(url: str) -> None:
    database = await open_database(url)
    await migrate(database, now=datetime.now(UTC))
    await database.close()


def _screen() -> Screen:
    return Screen(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)


def main(picture: Path = PICTURE, seconds: float = SECONDS) -> None:
    with TemporaryDirectory() as folder:
        drawn = asyncio.run(watched(f"{folder}/gnomon.db", seconds))
    picture.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
