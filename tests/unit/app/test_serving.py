"""Where the API listens, and with which key."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gnomon.app.processes.serving import check_exposure, served
from gnomon.cli.commands.processes import _url_of
from gnomon.errors import InvalidInput
from gnomon.settings import Settings
from tests.postgres import free_port


async def test_localhost_is_an_address() -> None:
    chosen = Settings().api
    port = free_port()

    async def app(scope: object, receive: object, send: object) -> None: ...

    async with served(app, replace(chosen, host="localhost", port=port), closing=asyncio.Event()):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()


async def test_http_2_is_not_served() -> None:
    """There a client holds its answers back without the kernel's knowledge, and has many calls at once."""
    chosen = replace(Settings().api, port=free_port())
    preface, settings_frame = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))

    async def app(scope: object, receive: object, send: object) -> None: ...

    async with served(app, chosen, closing=asyncio.Event()):
        reader, writer = await asyncio.open_connection("127.0.0.1", chosen.port)
        writer.write(preface + settings_frame)
        answer = await reader.read(100)
        writer.close()
    assert not answer or answer.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
        ("0.0.0.0", "127.0.0.1"),
        ("::1", "[::1]"),
        ("::", "[::1]"),
        ("2001:db8::7", "[2001:db8::7]"),
    ],
)
def test_the_address_that_is_told_can_be_called(host: str, told: str) -> None:
    settings = replace(Settings(), api=replace(Settings().api, host=host))
    assert _url_of(settings) == f"http://{told}:8484"


async def test_a_host_that_does_not_exist_is_told() -> None:
    chosen = replace(Settings().api, host="nowhere.invalid", insecure=True)
    with pytest.raises(InvalidInput, match=r"nowhere.invalid is unknown here"):
        async with served(None, chosen, closing=asyncio.Event()):
            pass


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_private_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    pair: dict[str, Any] = {"tls_certificate": tmp_path / "own.pem", "tls_key": tmp_path / "own.key"}
    for path in pair.values():
        path.touch(mode=0o600)
    check_exposure(replace(Settings().api, **pair))
    pair["tls_key"].chmod(mode)
    with pytest.raises(InvalidInput, match=rf"own.key \(mode {mode:04o}\). Run: chmod 600 .*own.key"):
        check_exposure(replace(Settings().api, **pair))
