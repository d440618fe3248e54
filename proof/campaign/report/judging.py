"""From a folder of histories to a verdict, figures and limits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from proof.campaign.plan import Kind
from proof.campaign.report.figures import Figures, Limit, figures_of
from proof.checker.history.files import read
from proof.checker.index import index_of
from proof.checker.judge import judge
from proof.checker.verdict import Outcome, Verdict

# What no campaign in real time can make happen, and why.
NOT_HERE = {
    "DST gap": "no zone changes its clocks while it runs; the simulator's worlds do",
    "DST overlap": "the same",
}
RECLAIM = "claimed again after SIGKILL, p99"
FAILOVER = "fired by another scheduler after SIGKILL, p99"
FIRST_CLAIM = "first claim after a restart of the database, max"
RECLAIM_BESIDE_LEASE = 10.0  # Seconds: 30 with the lease of 20.
FAILOVER_MAX = 15.0
FIRST_CLAIM_MAX = 5.0


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Verdict
    figures: Figures
    limits: Sequence[Limit]

    @property
    def is_clean(self) -> bool:
        return self.verdict.outcome is Outcome.VALID and all(limit.holds for limit in self.limits)


def judged(
    folder: Path,
    *,
    lease: float,
    without: Collection[str],
    faults_min: int,
    coverage: int,
    stale_accepted: int,
    unexpected: int,
) -> Judgement:
    """Without `coverage`, what was never tried does not count against a campaign: for a short one."""
    index = index_of(read(sorted(folder.glob("*.jsonl"))))
    verdict = judge(index, coverage_min=coverage, without=[*NOT_HERE, *without])
    figures = figures_of(index, verdict)
    limits = _limits(figures, lease, faults_min, stale_accepted, unexpected)
    return Judgement(verdict, figures, [replace(limit, is_needed=coverage > 0) for limit in limits])


def _limits(
    figures: Figures, lease: float, faults_min: int, stale_accepted: int, unexpected: int
) -> Sequence[Limit]:
    broken = figures.broken
    planned = sum(count for kind, count in figures.faults.items() if kind != Kind.STARVED)
    reclaim_max = lease + RECLAIM_BESIDE_LEASE
    return [
        Limit("faults", planned, faults_min, is_least=True),
        Limit("acknowledged and lost (S1)", broken.get("S1", 0), 0),
        Limit("ended twice, or touched after the end (Q2, Q3)", broken.get("Q2", 0) + broken.get("Q3", 0), 0),
        Limit("stale writes accepted (L3, replays)", broken.get("L3", 0) + stale_accepted, 0),
        Limit("stale writes refused", figures.refused or None, 1, is_least=True),
        Limit("due times missed (C1)", broken.get("C1", 0), 0),
        Limit("due times fired twice (C2)", broken.get("C2", 0), 0),
        Limit(RECLAIM, figures.reclaims.at(0.99), reclaim_max, unit="s"),
        Limit(FAILOVER, figures.failovers.at(0.99), FAILOVER_MAX, unit="s"),
        Limit(FIRST_CLAIM, figures.first_claims.at(1), FIRST_CLAIM_MAX, unit="s"),
        Limit("processes that needed a restart", unexpected, 0),
    ]
