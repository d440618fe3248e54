"""The API over TLS: whom it proves to be, and who refuses to talk to it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.cli.conftest import Desk
from tests.acceptance.cli.remote_workers import worker, worker_key
from tests.acceptance.nodes import Node, first_key, node

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="There is no openssl.")


@pytest.fixture
def certificate(tmp_path: Path) -> dict[str, str]:
    """One that signs itself, for this machine; and the settings that name it."""
    files = {"GNOMON_API_TLS_CERTIFICATE": "own.pem", "GNOMON_API_TLS_KEY": "own.key"}
    made = {name: str(tmp_path / file) for name, file in files.items()}
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=gnomon.test", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    out = ["-out", made["GNOMON_API_TLS_CERTIFICATE"], "-keyout", made["GNOMON_API_TLS_KEY"]]
    subprocess.run([*words, *names, *out], check=True, capture_output=True)
    return made


def test_who_trusts_the_certificate_talks_to_it_and_nobody_else(
    tmp_path: Path, certificate: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in certificate.items():
        monkeypatch.setenv(name, value)
    # With TLS, nothing has to be acknowledged to be reached from elsewhere.
    with node(tmp_path, "up", "--host", "0.0.0.0") as one:
        url = f"https://127.0.0.1:{one.port}"
        desk = Desk(tmp_path, url, first_key(one))
        trusted: dict[str, Any] = {"SSL_CERT_FILE": certificate["GNOMON_API_TLS_CERTIFICATE"]}
        refused = desk("job", "list", exit_code=5)
        assert "certificate" in refused.stderr.lower()
        desk("job", "create", "sealed", "--kind", "dummy", "--queue", "sealed", **trusted)
        monkeypatch.setenv("SSL_CERT_FILE", trusted["SSL_CERT_FILE"])
        with worker(desk, "sealed", worker_key(desk)):
            run = desk.json("job", "trigger", "sealed", "--wait")
        assert run["worker_id"] == "remote-sealed"
        _speaks_no_plain_http(one)


def _speaks_no_plain_http(one: Node) -> None:
    with pytest.raises(httpx.TransportError):
        httpx.get(f"http://127.0.0.1:{one.port}/livez")


@pytest.mark.parametrize("missing", ["GNOMON_API_TLS_CERTIFICATE", "GNOMON_API_TLS_KEY"])
def test_half_of_a_pair_is_refused_at_the_start(
    tmp_path: Path, certificate: dict[str, str], missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in certificate.items():
        if name != missing:
            monkeypatch.setenv(name, value)
    with node(tmp_path, "up") as one:
        _, log = one.process.communicate(timeout=30)
    assert one.process.returncode == 2
    assert "certificate and key go together" in log
