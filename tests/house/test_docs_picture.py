"""The picture of the README shows the live view as it is, and needs nothing from elsewhere."""

from __future__ import annotations

import html
import re
from inspect import getsource
from runpy import run_path

from gnomon.app.demo import demo_jobs
from gnomon.cli.output.live import LiveView
from tests.house.pages import read
from tests.house.tree import ROOT

PICTURE = "docs/live-view.svg"
DRAW_ANEW = "Draw it anew: make docs-picture"


def test_docs_picture_shows_the_jobs_and_columns_that_there_are() -> None:
    shown = html.unescape(read(ROOT, PICTURE)).replace("\xa0", " ")
    columns = re.search(r'for name in \(("next".*?)\):', getsource(LiveView))
    assert columns, "The live view says its columns in another way. Mend this test."
    wanted = {"job", "schedule", *re.findall(r'"(\w+)"', columns[1]), *demo_jobs()}
    assert sorted(one for one in wanted if one not in shown) == [], DRAW_ANEW


def test_docs_picture_needs_nothing_from_elsewhere() -> None:
    picture = read(ROOT, PICTURE)
    assert re.findall(r"(?:href|src)=|url\((?!#)|@import", picture) == []
    assert PICTURE in read(ROOT, "README.md")


def test_docs_picture_can_be_drawn_by_what_there_is() -> None:
    """What it imports is there, and has its names. To draw it takes half a minute."""
    assert callable(run_path(str(ROOT / "docs/picture.py"))["main"])
