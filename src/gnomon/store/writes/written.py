"""What became of a write set."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from gnomon.core.executions.lease import Claim
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.events import Event
from gnomon.core.runs.write_set import Begun
from gnomon.store.databases.database import Row
from gnomon.store.queue.claimed import ClaimedRow


class Written(NamedTuple):
    """`is_refused`: a run or a lease is not what it was, so nothing has happened.

    Of decisions: `refused` are claims that are no longer current, `watched` jobs that others may wait for and
    of which something ended. Of a claim: there `may_be_more` to claim than what was `claimed`.

    Of steps: `begun` are executions that can be claimed; `has_let_go`: others, too. `follows` is what happens
    by that to these runs and others, in the same transaction. `to_start` are inner runs to begin, with those
    around them. `asked_to_stop`: a worker runs something that shall stop.
    """

    is_refused: bool = False
    refused: Collection[Claim] = ()
    watched: Collection[JobId] = ()
    claimed: Sequence[Row | ClaimedRow] = ()
    may_be_more: bool = True
    begun: Mapping[UUID, Begun] = {}
    has_let_go: bool = False
    follows: Mapping[UUID, Sequence[Event]] = {}
    to_start: Sequence[tuple[UUID, UUID]] = ()
    asked_to_stop: bool = False

    def and_then(self, later: Written) -> Written:
        """Of two transactions that write decisions, of which at most one claims."""
        return Written(
            refused={*self.refused, *later.refused},
            watched={*self.watched, *later.watched},
            claimed=self.claimed or later.claimed,
            may_be_more=self.may_be_more or later.may_be_more,
        )


WRITTEN = Written()
REFUSED = Written(is_refused=True)
