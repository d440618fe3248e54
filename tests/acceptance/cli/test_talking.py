"""How commands find their server, how they answer, and how they say what went wrong."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Any

import msgspec

from tests.acceptance.cli.conftest import Desk
from tests.postgres import free_port

ERROR = r"gnomon: .+ \(request req_[0-9a-f]+\) \[[A-Z_]+\]\n"


def test_a_key_is_kept_in_a_file_for_its_owner_and_used_from_there(desk: Desk) -> None:
    nothing: dict[str, Any] = {"GNOMON_SERVER": "", "GNOMON_KEY": ""}
    assert "gnomon login" in desk("job", "list", exit_code=6, **nothing).stderr

    done = desk("login", "--server", desk.url, stdin=f"{desk.key}\n", **nothing)
    path = desk.folder / "gnomon" / "profiles.toml"
    assert str(path) in done.stdout
    assert desk.key not in done.stdout
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    desk("job", "list", **nothing)
    assert "chmod 600" in _with_mode(path, 0o644, lambda: desk("job", "list", exit_code=2, **nothing).stderr)

    desk("login", "--profile", "wrong", "--server", desk.url, "--no-check", stdin="gnm_wrong", **nothing)
    desk("job", "list", "--profile", "wrong", exit_code=6, **nothing)
    desk("job", "list", **nothing)
    # The key of one server is not sent to another.
    elsewhere = f"http://127.0.0.1:{free_port()}"
    refused = desk("job", "list", "--server", elsewhere, exit_code=6, **nothing).stderr
    assert f"There is no API key for {elsewhere}. Set GNOMON_KEY, or run `gnomon login --server" in refused
    assert f"The profile 'default' in {path} is for {desk.url}." in refused
    # A profile that is mistyped does not send the key of the environment to the default server.
    mistyped: dict[str, Any] = {"GNOMON_SERVER": "", "GNOMON_KEY": desk.key}
    refused = desk("job", "list", "--profile", "wrnog", exit_code=2, **mistyped).stderr
    assert f"there is no profile 'wrnog' in {path}. Known: " in refused
    for empty in ("", "\n", "gnm_x y\n"):
        told = desk("login", "--server", desk.url, stdin=empty, exit_code=2, **nothing).stderr
        assert "key: is not an API key" in told


def test_errors_are_one_line_with_code_and_request_and_an_exit_code(desk: Desk) -> None:
    missing = desk("job", "show", "no such job", exit_code=4)
    assert missing.stderr == "gnomon: There is no job no such job. [JOB_NOT_FOUND]\n"
    unknown = desk("run", "show", "0198c5a2-0000-7000-8000-000000000000", exit_code=4)
    assert re.fullmatch(ERROR, unknown.stderr)
    assert unknown.stdout == ""
    wrong = desk("job", "create", "bad", "--kind", "dummy", "--cron", "99 * * * *", exit_code=2)
    assert re.fullmatch(ERROR, wrong.stderr)
    assert "[INVALID_CRON]" in wrong.stderr
    assert re.fullmatch(ERROR, desk("job", "list", exit_code=6, GNOMON_KEY="gnm_nobody").stderr)
    nowhere = f"http://127.0.0.1:{free_port()}"
    gone = desk("job", "list", "--server", nowhere, exit_code=5)
    assert gone.stderr.endswith("[SERVER_UNREACHABLE]\n")
    assert len(gone.stderr.splitlines()) == 1
    desk("job", "list", "--server", "ftp://x", exit_code=2)


def test_an_answer_is_a_table_json_or_yaml(desk: Desk) -> None:
    desk("job", "create", "shapes", "--kind", "dummy", "--tag", "shapes", "--every", "1d")
    table = desk("job", "list", "--tag", "shapes").stdout.splitlines()
    assert table[0].split() == [
        "NAME",
        "STATUS",
        "STATE",
        "KIND",
        "SCHEDULE",
        "NEXT",
        "RUN",
        "LAST",
        "RUN",
        "ID",
    ]
    assert re.split(r"  +", table[1])[:5] == ["shapes", "ACTIVE", "scheduled", "dummy", "every 86400 s"]
    [one] = desk.json("job", "list", "--tag", "shapes")
    assert one["name"] == "shapes"
    assert msgspec.yaml.decode(desk("job", "list", "--tag", "shapes", "-o", "yaml").stdout) == [one]
    few = desk("job", "list", "--limit", "1")
    assert len(few.stdout.splitlines()) == 2


def test_completion_and_version_need_no_server(desk: Desk) -> None:
    assert desk("version", GNOMON_SERVER="", GNOMON_KEY="").stdout.strip()
    assert "--show-completion" in desk("--help").stdout


def _with_mode(path: Path, mode: int, look: object) -> str:
    path.chmod(mode)
    try:
        return str(look())  # type: ignore[operator]
    finally:
        path.chmod(0o600)


def test_the_tenant_has_a_limit_that_can_be_set_and_lifted(desk: Desk) -> None:
    assert desk.json("tenant", "limit", "50")["max_concurrent"] == 50
    assert desk.json("tenant", "show")["max_concurrent"] == 50
    assert "neither a whole number" in desk("tenant", "limit", "many", exit_code=2).stderr
    desk("tenant", "limit", "0", exit_code=2)
    assert desk.json("tenant", "limit", "none")["max_concurrent"] is None
