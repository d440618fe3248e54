"""What processes can get wrong: forgetting, believing too long, stopping too early."""

from __future__ import annotations

from proof.exam.planting import bug

BUGS = (
    bug(
        "a claim without an answer is forgotten",
        "engine/workers/slots.py",
        "self.request = request",
        "self.request = None",
        caught_by="tests/integration/engine/test_worker.py",
    ),
    bug(
        "a claim is asked again as if it were new",
        "engine/workers/slots.py",
        "return None if self.request is None else replace(self.request, is_repeat=True)",
        "return None",
        caught_by="tests/integration/engine/test_worker.py",
    ),
    bug(
        "a claim that took as long as its lease is started",
        "engine/workers/worker.py",
        "soon = self._clock.now() + self._lease / 3",
        "soon = self._clock.now() - self._lease * 100",
        caught_by="tests/integration/engine/test_worker.py",
    ),
    bug(
        "what a draining worker gets is kept",
        "engine/workers/worker.py",
        "        if self.is_draining:\n            self._give_back(leased)",
        "        if self.is_draining:\n            pass",
        caught_by="tests/integration/engine/test_worker.py",
    ),
    bug(
        "others begin beside a suspect",
        "engine/workers/quarantine.py",
        "return self._suspect is None and not (self.is_waiting and held)",
        "return not (self.is_waiting and held)",
    ),
    bug(
        "a suspect begins beside others",
        "engine/workers/worker.py",
        "self.claims() or not await self._outlook.leaves(self._clock.now()):\n            return False\n"
        "        return await self.may_ask() and self._slots.request is None and not self.claims()",
        "not await self._outlook.leaves(self._clock.now()):\n            return False\n"
        "        return await self.may_ask() and self._slots.request is None",
    ),
    bug(
        "a draining worker goes on claiming",
        "engine/workers/worker.py",
        "is_held_up = self.is_draining or",
        "is_held_up =",
        caught_by="tests/integration/engine/test_worker.py",
    ),
    bug(
        "heartbeats stop when a worker drains",
        "engine/workers/worker.py",
        "        running = [one.leased.claim for",
        "        if self.is_draining:\n            return []\n        running = [one.leased.claim for",
        caught_by="tests/integration/engine/test_worker.py",
    ),
    bug(
        "what has ended is not renewed until it is written",
        "engine/workers/worker.py",
        "return [*running, *self._slots.unwritten()]",
        "return running",
        caught_by="tests/integration/engine/test_worker.py",
    ),
    bug(
        "a worker goes on with what it has lost",
        "engine/workers/worker.py",
        "attempt.ask_to_stop(Stop.LOST)",
        "pass",
        caught_by="tests/integration/engine/test_worker.py",
    ),
    bug(
        "a worker does not hear that it shall stop",
        "engine/workers/worker.py",
        "attempt.ask_to_stop(Stop.CANCELLED)",
        "pass",
        caught_by="tests/integration/engine/test_worker.py",
    ),
    bug(
        "a draining worker does not stop what runs",
        "engine/node.py",
        "        worker.stop_running()\n",
        "",
        caught_by="tests/integration/engine/test_node.py",
    ),
    bug(
        "who was drained is told to have failed",
        "engine/workers/attempts.py",
        "            case Stop.DRAINED:\n                return Released()",
        "            case Stop.DRAINED:\n                return TimedOut()",
        caught_by="tests/integration/engine/test_worker.py",
    ),
    bug(
        "a timeout does not ring",
        "engine/workers/attempts.py",
        "        if definition.timeout is not None:",
        "        if False:",
        caught_by="tests/integration/engine/test_worker.py",
    ),
    bug(
        "no heartbeat renews anything",
        "engine/workers/heartbeat.py",
        "        if not claims:",
        "        if True:",
    ),
    bug(
        "heartbeats come too seldom",
        "engine/workers/heartbeat.py",
        "        return pause\n",
        "        return pause * 5\n",
    ),
    bug(
        "a renewal is for no longer than until the next one",
        "engine/workers/heartbeat.py",
        "lease_until=self._clock.now() + self._lease)",
        "lease_until=self._clock.now() + self._lease / 4)",
    ),
    bug(
        "the reaper takes back what was renewed an instant ago",
        "engine/schedulers/reaper.py",
        "now = self._clock.now()\n        expired",
        "now = self._clock.now() + self._patience\n        expired",
    ),
    bug(
        "the reaper is not patient after an outage",
        "engine/schedulers/reaper.py",
        "if not self._may_judge() or not expired:",
        "if not expired:",
        caught_by="tests/integration/engine/test_keeping_alive.py",
    ),
    bug(
        "a reaper trusts the store from its first answer on",
        "engine/schedulers/reaper.py",
        "self._heard_at - self._steady_since >= self._patience and ",
        "",
    ),
    bug(
        "a reaper does not see that the store stood still while it was asked",
        "engine/schedulers/reaper.py",
        "since is not None and heard - asked <= self._late",
        "since is not None",
        caught_by="tests/integration/engine/test_keeping_alive.py",
    ),
    bug(
        "nobody takes back what a dead worker held",
        "engine/schedulers/reaper.py",
        "if not self._may_judge() or not expired:",
        "if True:",
    ),
    bug(
        "the outcomes of a call without an answer are dropped",
        "engine/workers/completer.py",
        "answers, more = await self._write_all(self._decisions)",
        "decisions, self._decisions = self._decisions, []\n"
        "        answers, more = await self._write_all(decisions)\n"
        "        self._decisions = decisions",
        caught_by="tests/integration/engine/test_worker.py",
    ),
    bug(
        "a scheduler thinks it is later than it is",
        "engine/schedulers/scheduler.py",
        "    async def step(self) -> timedelta:\n        now = self._clock.now()\n",
        "    async def step(self) -> timedelta:\n        now = self._clock.now() + OVERDUE\n",
    ),
    bug(
        "a plan made ahead is used whenever its owner wakes up",
        "engine/schedulers/scheduler.py",
        " if now <= one.until]",
        "]",
        caught_by="tests/integration/engine/test_scheduler.py",
    ),
    bug(
        "a decision is as old as the question before it",
        "engine/schedulers/scheduler.py",
        "        facts = await self._facts(due.jobs)\n        now = self._clock.now()\n",
        "        now = self._clock.now()\n        facts = await self._facts(due.jobs)\n",
        caught_by="tests/integration/engine/test_scheduler.py",
    ),
    bug(
        "a plan made ahead outlives the grace of its job",
        "engine/schedulers/scheduler.py",
        "min(OVERDUE, max(AHEAD, job.definition.schedule.misfire_grace))",
        "OVERDUE",
        caught_by="tests/integration/engine/test_scheduler.py",
    ),
    bug(
        "a process asks for the time once",
        "engine/clock.py",
        "        await self._clock.learn()\n        return LEARN_EVERY",
        "        return LEARN_EVERY",
    ),
    bug(
        "who lost touch with the database trusts its own clock",
        "engine/workers/worker.py",
        "        await self._clock.sure()\n",
        "",
        caught_by="tests/integration/engine/test_clock.py",
    ),
    bug(
        "the way of an answer is not taken off the time",
        "engine/clock.py",
        "- answered\n",
        "- asked\n",
        caught_by="tests/integration/engine/test_clock.py",
    ),
    bug(
        "nobody sweeps the gates",
        "engine/schedulers/sweeper.py",
        "if page.items and await self._executions.admit(",
        "if page.items and 0 and await self._executions.admit(",
    ),
)
