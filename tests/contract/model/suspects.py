"""Which worker holds back for executions whose worker died: the model of reservations."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from gnomon.core.executions.execution import WorkerId
from gnomon.core.executions.lease import Offer
from gnomon.core.executions.suspects import PATIENCE, RESERVED_AGAIN_AFTER, RESERVED_FOR, RESERVED_MAX
from tests.contract.model.state import Reservation, State


def reserve(state: State, worker: WorkerId, offer: Offer, now: datetime) -> bool:
    waiting = [
        run
        for run in state.runs.values()
        if run.is_suspect and run.lane.fits(offer) and run.due <= now - PATIENCE
    ]
    if not waiting:
        return False
    lane = min(waiting, key=lambda run: (run.due, run.id)).lane
    known = state.reservations.get(lane)
    anew = Reservation(worker, now + RESERVED_FOR, now + RESERVED_MAX, now + RESERVED_AGAIN_AFTER)
    if known is None or (known.worker != worker and known.until <= now):
        state.reservations[lane] = anew
        return True
    if known.worker != worker or (known.until >= known.give_up_at and known.rest_until > now):
        return False
    if known.until > now:
        anew = replace(known, until=min(anew.until, known.give_up_at))
    state.reservations[lane] = anew
    return True


def is_reserved(state: State, worker: WorkerId, now: datetime) -> bool:
    return any(one.worker == worker and one.until > now for one in state.reservations.values())


def let_go(state: State, worker: WorkerId) -> None:
    state.reservations = {lane: one for lane, one in state.reservations.items() if one.worker != worker}
