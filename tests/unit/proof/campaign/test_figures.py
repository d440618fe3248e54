"""What a campaign measures, and the page that tells of it."""

from __future__ import annotations

from pathlib import Path
from random import Random

from gnomon.core.jobs.job import JobId, shard_of
from gnomon.core.values.ids import IdSource
from proof.campaign.report.report import Circumstances, Report, keep_circumstances, report_of
from proof.checker.history.events import Elect, Expired, Refused
from proof.checker.history.files import write
from tests.unit.proof.checker.story import NOON, Story, t

JOB = IdSource(Random(1)).next(NOON)


def story() -> Story:
    """A worker and a scheduler are killed, and the database restarts."""
    told = Story()
    told.process("w1/1", 0, Refused, run="r", token=1, op="complete")
    told.job(str(JOB), every=10, anchor=NOON, misfire="FIRE_ALL")
    told.enqueue(job=str(JOB))
    told.claim(2, worker="w1/1")
    told.start(2, worker="w1/1")
    told.fault(4, 6, "kill", "w1")
    told.again(25, Expired)
    told.claim(26.5, worker="w2/1")
    told.start(26.5, worker="w2/1")
    told.end(27)
    told.store(1, Elect, scope=f"shard {shard_of(JobId(JOB))}", who="s1/1", term=1, expires=t(100))
    told.fault(8, 9, "kill", "s1")
    told.fire(13, 10, "fired", job=str(JOB))
    told.fault(30, 31, "restart_fast", "db")
    told.live("fired", at=33, worker="w2/1")
    told.heal(40)
    told.read()
    return told


def page_of(folder: Path) -> Report:
    (folder / "history").mkdir()
    write(folder / "history" / "all.jsonl", story().events)
    keep_circumstances(
        folder,
        Circumstances(
            command="make campaign",
            lease=20,
            faults_min=1,
            coverage=1,
            stale_accepted=0,
            unexpected=[],
            skipped={"skew": "no tool"},
            not_covered=[],
            facts={"seed": "7"},
        ),
    )
    return report_of(folder)


def test_recovery_is_measured_from_the_fault_to_the_next_sign(tmp_path: Path) -> None:
    figures = page_of(tmp_path).judgement.figures

    assert list(figures.reclaims.seconds) == [22.5]
    assert list(figures.failovers.seconds) == [3.0]
    assert list(figures.first_claims.seconds) == [2.0]
    assert (figures.refused, figures.faults["kill"]) == (1, 2)


def test_a_page_tells_what_does_not_hold(tmp_path: Path) -> None:
    page = page_of(tmp_path)

    assert not page.is_clean  # Too little was tried.
    assert "| claimed again after SIGKILL, p99 | 22.5 s | at most 30 s | yes |" in page.markdown
    assert "no tool" in page.markdown
    assert page.html.count("<svg") == 4
    assert "lost reply to claim: seen 0 times" in page.html
