"""`gnomon import crontab` against a server."""

from __future__ import annotations

from tests.acceptance.cli.conftest import Desk


def test_a_crontab_is_shown_with_its_next_fires_and_then_made(desk: Desk) -> None:
    text = "@reboot never\n30 2 * * * import-backup --all\n"
    words = ("import", "crontab", "-", "--timezone", "Europe/Berlin")
    shown = desk(*words, "--dry-run", stdin=text)
    assert "becomes 'import-backup': 30 2 * * * in Europe/Berlin" in shown.stdout
    assert shown.stdout.count("    fires ") == 3
    assert "mailed to nobody" in shown.stderr
    assert "--yes" in desk(*words, stdin=text, exit_code=2).stderr
    desk(*words, "--yes", stdin=text)
    assert desk.json("job", "show", "import-backup")["tags"] == ["applied:crontab"]

    wrong = desk(*words, "--yes", stdin="61 * * * * import-wrong\n", exit_code=1)
    assert "wrong: " in wrong.stdout
    desk("job", "show", "import-wrong", exit_code=4)
