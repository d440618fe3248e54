"""What lines of a crontab become."""

from __future__ import annotations

from gnomon.cli.files.crontab import CrontabEntry, read_crontab


def read(text: str, *, has_user: bool = False) -> list[CrontabEntry]:
    return list(read_crontab(text, timezone="Europe/Berlin", has_user=has_user))


def test_a_plain_line_is_a_script_by_cron_without_retries() -> None:
    [entry] = read("# a comment\n\n*/5 1-3 * * MON  cd /srv && ./backup.sh --all\n")
    assert entry.number == 3
    assert entry.form == {
        "name": "backup.sh",
        "kind": "script",
        "payload": {"interpreter": "/bin/sh", "script": "cd /srv && ./backup.sh --all"},
        "cron": "*/5 1-3 * * MON",
        "timezone": "Europe/Berlin",
        "retry_policy": {"max_attempts": 1},
    }
    assert entry.warnings == []


def test_variables_hold_for_the_lines_below_them() -> None:
    first, second = read(
        "@daily one\nSHELL=/bin/bash\nPATH = '/opt/bin:/bin'\nHOME=/x\nMAILTO=me\nCRON_TZ=UTC\n@hourly two"
    )
    assert first.form is not None
    assert second.form is not None
    assert first.form["payload"] == {"interpreter": "/bin/sh", "script": "one"}
    assert second.form["payload"] == {
        "interpreter": "/bin/bash",
        "script": "two",
        "env": {"PATH": "/opt/bin:/bin"},
    }
    assert (first.form["timezone"], second.form["timezone"]) == ("Europe/Berlin", "UTC")
    assert second.warnings == ["HOME cannot be set here, and is left out."]


def test_after_a_percent_sign_comes_what_is_read_from_stdin() -> None:
    [entry] = read(r"0 0 * * * date +\%F; mail -s x%Dear you,%it's me")
    assert entry.form is not None
    assert entry.form["payload"]["script"] == (
        "printf '%s\\n' 'Dear you,' 'it'\"'\"'s me' | ( date +%F; mail -s x )"
    )


def test_what_has_no_meaning_here_is_left_out_and_told() -> None:
    reboot, short = read("@reboot /bin/start\n* * * * *\n")
    assert (reboot.form, short.form) == (None, None)
    assert "@reboot" in reboot.warnings[0]
    assert "missing" in short.warnings[0]


def test_a_system_crontab_has_a_user_and_the_same_program_gets_a_number() -> None:
    first, second = read("1 2 * * * root run-parts /a\n3 4 * * * me run-parts /b\n", has_user=True)
    assert first.form is not None
    assert second.form is not None
    assert (first.form["name"], second.form["name"]) == ("run-parts", "run-parts-2")
    assert first.form["payload"]["script"] == "run-parts /a"
    assert "'root'" in first.warnings[0]
