"""Fixtures for pytest. They bring nothing in until a test asks for one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gnomon.app.gnomon import Gnomon

OPTION = "gnomon_app"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(OPTION, "Where your app is, for the fixtures of Gnomon: module:attribute.", default="")


@pytest.fixture
def gnomon_app(request: pytest.FixtureRequest) -> Gnomon:
    """The app under test: what the option `gnomon_app` names. Override it to choose another."""
    from importlib import import_module

    home = str(request.config.getini(OPTION))
    module, _, attribute = home.partition(":")
    if not (module and attribute):
        raise pytest.UsageError(
            f"Say where your app is: {OPTION} = 'module:attribute' in the options of pytest, "
            "or a fixture gnomon_app of your own."
        )
    app: Gnomon = getattr(import_module(module), attribute)
    return app


@pytest.fixture
def gnomon_inline(gnomon_app: Gnomon) -> Any:
    """`async with gnomon_inline() as run:` runs the jobs of the app inline; see gnomon.testing.inline."""
    from functools import partial

    from gnomon.testing.inline_run import inline

    return partial(inline, gnomon_app)
