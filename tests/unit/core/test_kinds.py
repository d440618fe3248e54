"""Kinds: read in any case, refused if nothing runs them, and off where a setting leaves them out."""

from __future__ import annotations

from uuid import UUID

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import WorkerId
from gnomon.core.executions.lease import Lane
from gnomon.core.executions.records import JobFilter
from gnomon.core.jobs.job import Definition
from gnomon.core.jobs.kinds import Kinds
from gnomon.core.operations.workers import Registration
from gnomon.errors import InvalidInput, KindDisabled, UnknownKind

HERE = Kinds(frozenset({"http", "python", "script"}))
ONLY_HTTP = Kinds(frozenset({"http"}), enabled=frozenset({"http", "shell-demo"}))


def worker(*kinds: str) -> Registration:
    return Registration(WorkerId("ada"), UUID(int=1), "host", 1, frozenset(kinds))


def test_a_kind_is_read_in_any_case_and_kept_in_lower_case() -> None:
    assert Definition("HTTP") == Definition("http")
    assert JobFilter(kind="Http").kind == "http"
    assert worker("SQL", "sql", "Mail").kinds == {"sql", "mail"}
    assert worker("sql").offered("kinds", ["SQL"]) == {"sql"}


def test_what_an_earlier_release_kept_in_upper_case_fits_its_worker() -> None:
    lane = Lane(DEFAULT_TENANT, "default", "SQL", frozenset())
    assert lane.fits(worker("sql"))
    assert not lane.fits(worker("mail"))


def test_a_name_that_grows_too_long_in_lower_case_is_refused() -> None:
    with pytest.raises(InvalidInput):
        Definition("İ" * 255)


def test_an_unknown_kind_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UnknownKind) as refused:
        HERE.check("htpp")
    assert refused.value.field == "kind"
    assert "Did you mean `http`?" in str(refused.value)
    assert "allow_unknown_kind" in str(refused.value)


def test_a_kind_of_a_worker_elsewhere_is_known() -> None:
    HERE.check("sql", elsewhere={"sql"})
    with pytest.raises(UnknownKind, match=r"Did you mean `sql`\?"):
        HERE.check("sqll", elsewhere={"sql"})


def test_an_unknown_kind_may_be_allowed() -> None:
    HERE.check("sql", allows_unknown=True)


def test_where_nothing_is_known_no_kind_is_unknown() -> None:
    Kinds().check("anything")


def test_a_kind_that_is_off_stays_off_whatever_the_caller_allows() -> None:
    for kind in ("script", "sql"):
        with pytest.raises(KindDisabled, match=f"{kind!r} is off here.*allows http, shell-demo"):
            ONLY_HTTP.check(kind, elsewhere={kind}, allows_unknown=True)


def test_a_kind_that_the_setting_names_is_known_although_it_is_not_installed() -> None:
    ONLY_HTTP.check("shell-demo")
