"""Stories about runs: W, S, Q, L, E, R, X and V."""

from __future__ import annotations

from typing import Any

from proof.checker.history.events import (
    Abandoned,
    Alive,
    Cancelled,
    CancelOk,
    Dead,
    Deleted,
    Done,
    Down,
    Expect,
    Expired,
    Failed,
    Look,
    Refused,
    Released,
    SubmitFail,
    SubmitInfo,
    SubmitInvoke,
    Told,
)
from tests.unit.proof.checker.story import LEASE, Story, case, t

# W ------------------------------------------------------------------------------------------------


@case("W1")
def a_source_leaves_a_number_out(story: Story, wrong: bool) -> None:
    story.process("w/1", 1, Alive)
    story.process("w/1", 2, Alive, **({"n": 3} if wrong else {}))
    story.read()


@case("W1")
def a_monotonic_clock_goes_back(story: Story, wrong: bool) -> None:
    story.process("w/1", 1, Alive, mono=10.0)
    story.process("w/1", 2, Alive, mono=9.0 if wrong else 10.0)
    story.read()


@case("W2")
def a_version_is_left_out(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.end(3, Done, v=4 if wrong else 3)
    story.read()


@case("W2")
def a_waiting_run_is_done(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    if wrong:
        story.end(2, Done, token=None)
    else:
        story.end(2, Cancelled, token=None)
    story.read()


@case("W3")
def a_run_comes_from_nowhere(story: Story, wrong: bool) -> None:
    story.job()
    if not wrong:
        story.enqueue()
    story.live()
    story.read()


# S ------------------------------------------------------------------------------------------------


@case("S1")
def an_acknowledged_run_is_lost(story: Story, wrong: bool) -> None:
    story.job()
    story.submit(1, "k", "r")
    story.enqueue(key="k")
    story.live()
    story.forget("r")
    if not wrong:
        story.store(10, Deleted, run="r", who="retention")
    story.read()


@case("S2")
def a_refused_key_exists(story: Story, wrong: bool) -> None:
    story.job()
    story.process("client", 1, SubmitInvoke, key="k", body="b")
    story.process("client", 2, SubmitFail if wrong else SubmitInfo, key="k", body="b")
    story.enqueue(key="k")
    story.live()
    story.read()


@case("S2")
def a_key_with_another_body_is_refused_and_its_first_one_exists(story: Story, wrong: bool) -> None:
    story.job()
    if not wrong:
        story.submit(1, "k", "r")
    story.process("client", 2, SubmitInvoke, key="k", body="c")
    story.process("client", 3, SubmitFail, key="k", body="c")
    story.enqueue(key="k")
    story.live()
    story.read()


@case("S3")
def a_key_stands_for_two_runs(story: Story, wrong: bool) -> None:
    story.job()
    story.process("client", 1, SubmitInvoke, key="k", body="b")
    story.process("client", 2, SubmitInfo, key="k", body="b")
    story.submit(3, "k", "r")
    story.enqueue(key="k")
    story.live()
    if wrong:
        story.enqueue("s", key="k")
        story.live("s", at=5)
    story.read()


@case("S3")
def a_key_is_accepted_with_two_bodies(story: Story, wrong: bool) -> None:
    story.job()
    story.submit(1, "k", "r")
    story.submit(2, "k", "r", body="c" if wrong else "b")
    story.enqueue(key="k")
    story.live()
    story.read()


@case("S4")
def something_exists_that_nobody_sent(story: Story, wrong: bool) -> None:
    story.job()
    if not wrong:
        story.submit(1, "k", "r")
    story.enqueue(key="k")
    story.live()
    story.read()


@case("S5")
def a_look_does_not_see_what_was_acknowledged(story: Story, wrong: bool) -> None:
    story.job()
    story.process("client", 1, Look, run="r", found=False)
    story.submit(2, "k", "r")
    story.enqueue(key="k")
    story.process("client", 3, Look, run="r", found=not wrong)
    story.live()
    story.read()


@case("S5")
def a_look_through_a_broken_process_may_fail(story: Story, wrong: bool) -> None:
    story.job()
    story.submit(2, "k", "r")
    story.enqueue(key="k")
    if not wrong:
        story.fault(2, 4, "cut", "api/1")
    story.process("client", 3, Look, run="r", found=False, via="api/1")
    story.live()
    story.read()


# Q ------------------------------------------------------------------------------------------------


@case("Q1")
def a_run_never_ends(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    if not wrong:
        story.live()
    story.read()


@case("Q1")
def a_retry_whose_time_has_not_come_owes_nothing(story: Story, wrong: bool) -> None:
    story.job(backoff="fixed", backoff_base=4980, backoff_max=4980)
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.again(3, Failed, after=4980, at=t(3))
    story.read(5500 if wrong else 5000)


@case("Q1")
def a_gate_that_nobody_is_behind_stays_shut(story: Story, wrong: bool) -> None:
    """Two wait for each other, or so it seems: neither runs."""
    story.job(max_concurrent=1)
    story.enqueue("r", at=1)
    story.enqueue("s", at=2)
    if not wrong:
        story.live("r", at=3)
        story.live("s", at=6)
    story.read()


@case("Q1")
def a_run_at_a_gate_is_passed_over_for_ever(story: Story, wrong: bool) -> None:
    story.job(max_concurrent=1)
    story.enqueue("r", at=1)
    if not wrong:
        story.live("r", at=2)
    for number in range(49):
        later = f"later {number}"
        story.enqueue(later, at=100 + number * 100)
        story.live(later, at=100 + number * 100)
    story.read()


@case("Q1")
def with_more_work_than_slots_somebody_behind_has_a_turn(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue("r", at=1, priority=4)
    for at in range(50, 5000, 50):
        priority = 3 if wrong and at == 2500 else 9
        story.enqueue(f"s {at}", at=at, priority=priority)
        story.live(f"s {at}", at=at + 1)
    story.read()


@case("Q1")
def who_stands_in_line_behind_a_retry_waits_as_long(story: Story, wrong: bool) -> None:
    story.job(overlap="queue", backoff="fixed", backoff_base=4980, backoff_max=4980)
    story.enqueue("r", at=1)
    story.enqueue("s", at=2)
    story.claim(3, "r")
    story.start(3, "r")
    story.again(4, Failed, after=4980, at=t(4), run="r")
    story.read(5500 if wrong else 5000)


@case("Q1")
def a_suspect_waits_for_those_before_it(story: Story, wrong: bool) -> None:
    """Each needs an empty worker. The one before it got its own at the last moment."""
    story.job()
    for at, run in ((30, "s"), (40, "r"), (50, "later")):
        story.enqueue(run, at=at)
        story.claim(at + 1, run)
        story.start(at + 1, run)
    story.fault(52, 53, "kill", "w")
    for at, run in ((55, "s"), (65, "r"), (75, "later")):
        story.again(at, Expired, run=run)
    for at in range(100, 4900, 100):
        story.enqueue(f"plain {at}", at=at)
        story.live(f"plain {at}", at=at + 1, worker="w/2")  # A worker that holds something takes no suspect.
    story.live("later" if wrong else "s", at=4900, worker="w/3")
    story.read(4950)


@case("Q2")
def a_run_ends_twice(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.live()
    if wrong:
        story.end(6, Dead, why="exhausted")
    story.read()


@case("Q3")
def a_run_that_has_ended_is_claimed(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.live()
    if wrong:
        story.live(at=6)
    story.read()


@case("Q4")
def a_run_is_claimed_before_its_time(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue(run_at=t(10))
    story.live(at=9 if wrong else 10)
    story.read()


@case("Q4")
def a_retry_is_claimed_before_its_time(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.again(3, Failed, after=60)
    story.live(at=62 if wrong else 63)
    story.read()


@case("Q5")
def the_first_of_a_queue_is_passed_over_again_and_again(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue("first", 1, priority=9)
    for number in range(4):
        story.enqueue(f"r{number}", 1)
    if not wrong:
        story.live("first", at=5)
    for number in range(4):
        story.live(f"r{number}", at=10 + 2 * number)
    if wrong:
        story.live("first", at=20)
    story.read()


# L ------------------------------------------------------------------------------------------------


@case("L1")
def a_running_run_is_claimed(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    if not wrong:
        story.again(3, Released)
    story.claim(4, attempt=1)
    story.start(4)
    story.end(5)
    story.read()


@case("L2")
def a_token_begins_again(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2, token=7)
    story.start(2, token=7)
    story.again(3, Released, token=7)
    again = 7 if wrong else 8
    story.claim(4, token=again, attempt=1)
    story.start(4, token=again)
    story.end(5, token=again)
    story.read()


@case("L3")
def a_late_writer_is_accepted(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.fault(3, 60, "pause", "w/1")
    story.again(24, Expired, kind="lease_expired")
    story.claim(25, worker="v/1")
    story.start(25, worker="v/1")
    story.exit(60, token=1, attempt=1)
    if wrong:
        story.beat(60, token=1)
    story.store(60, Refused, run="r", token=1, op="complete", holder_token=2)
    story.beats(25, 61)
    story.end(61)
    story.read()


@case("L4")
def a_run_is_taken_back_before_its_lease_ran_out(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.beat(10)
    story.fault(11, None, "kill", "w/1")
    story.again(29 if wrong else 31, Expired)
    story.live(at=32, worker="v/1")
    story.read()


@case("L5")
def a_healthy_worker_loses_its_run(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    if not wrong:
        story.fault(3, None, "kill", "w")
    story.again(24, Expired)
    if wrong:
        story.exit(23)
    story.live(at=25, worker="w/2")
    story.read()


@case("L5")
def a_claim_comes_with_a_lease_that_has_run_out(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    if not wrong:
        story.fault(3, 10, "slow", "w/1")  # It was sent then.
    story.claim(50, lease_until=t(25))
    story.start(51)
    story.exit(52)
    story.again(52, Expired)
    story.live(at=54, worker="v/1")
    story.read()


@case("L11")
def a_worker_loses_its_run_in_an_outage(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.fault(10, 40, "freeze", "db")
    if wrong:
        story.again(42, Expired)
        story.exit(43)
        story.live(at=44, worker="v/1")
    else:
        story.beat(41)
        story.exit(43)
        story.end(43)
    story.read()


@case("L11")
def a_worker_dies_in_an_outage(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    if not wrong:
        story.fault(9, None, "kill", "w")
    story.fault(10, 40, "pool_exhausted", "db")
    story.again(52, Expired)
    if wrong:
        story.exit(53)
    story.live(at=54, worker="v/1")
    story.read()


@case("L6")
def a_claim_is_forgotten(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    if wrong:
        story.beats(2, 40)
        story.again(40, Failed, after=60)
    else:
        story.again(3, Released)
    story.claim(101, attempt=2 if wrong else 1)
    story.start(101)
    story.end(102)
    story.read()


@case("L7")
def what_a_dead_worker_held_is_left_there(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.fault(3, None, "kill", "w/1")
    story.again(60 if wrong else 25, Expired)
    story.live(at=61, worker="v/1")
    story.read()


@case("L7")
def a_claim_that_was_long_on_its_way_is_left_there(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.fault(3, None, "kill", "w/1")
    story.claim(50, lease_until=t(22))
    story.again(80 if wrong else 52, Expired)
    story.live(at=81, worker="v/1")
    story.read()


@case("L7")
def a_lease_is_for_longer_than_leases_are(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2, lease_until=t(3602 if wrong else 22))
    story.start(2)
    story.fault(3, None, "kill", "w/1")
    story.again(3603 if wrong else 25, Expired)
    story.live(at=3604, worker="v/1")
    story.read()


@case("L7")
def a_scheduler_that_is_well_does_not_do_the_work_of_a_broken_one(story: Story, wrong: bool) -> None:
    story.up("s/1", "scheduler")
    story.up("z/1", "scheduler")
    story.job(at=100)
    story.enqueue(at=100)
    story.claim(102)
    story.start(102)
    story.fault(103, None, "kill", "w/1")
    story.fault(110, 200, "pause", "s/1")
    story.again(160 if wrong else 125, Expired)
    story.live(at=161, worker="v/1")
    story.process("s/1", 201, Alive)
    story.process("z/1", 201, Alive)
    story.read()


@case("L8")
def who_lets_go_of_a_run_does_not_tell_its_handler(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    started = story.start(2)
    if not wrong:
        story.process(started.src, 3, Told, run="r", token=1)
    story.end(4, Released, next_at=t(4))
    story.claim(5, attempt=1, worker="v/1")
    story.start(5, attempt=1, worker="v/1")
    story.exit(8, token=1, attempt=1)
    story.exit(9, attempt=1, worker="v/1")
    story.end(9)
    story.read()


@case("L8")
def what_was_over_long_before_the_last_beat_held_nobody(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.fault(3, 4, "pause", "w/1")
    story.beats(2, 90)
    if not wrong:
        story.fault(89, 130, "pause", "w/1")
    story.again(108, Expired)
    story.live(at=109, until=135, worker="v/1")
    story.process("w/1", 131, Alive)
    story.exit(132, token=1, attempt=1)
    story.store(132, Refused, run="r", token=1, op="complete", holder_token=2)
    story.read()


@case("L8")
def a_run_runs_twice_at_once(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    if not wrong:
        story.fault(3, 60, "pause", "w/1")
    story.again(24, Expired)
    story.live(at=25, worker="v/1")
    story.process("w/1", 61, Alive)
    story.exit(62, token=1, attempt=1)
    story.store(62, Refused, run="r", token=1, op="complete", holder_token=2)
    story.read()


@case("L8")
def who_comes_back_is_not_refused(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.fault(3, 60, "pause", "w/1")
    story.again(24, Expired)
    story.live(at=25, worker="v/1")
    story.exit(62, token=1, attempt=1)
    if not wrong:
        story.store(62, Refused, run="r", token=1, op="complete", holder_token=2)
    story.read()


@case("L8")
def who_stood_still_before_its_first_step_starts_late(story: Story, wrong: bool) -> None:
    """Between the answer to its claim and the start; nobody can look at the clock in between."""
    story.job()
    story.enqueue()
    story.claim(2)
    if not wrong:
        story.fault(2.1, 60, "pause", "w/1")
    story.again(24, Expired)
    story.live(at=25, worker="v/1")
    story.start(60.1, token=1, attempt=1)
    story.exit(60.2, token=1, attempt=1)
    story.store(60.3, Refused, run="r", token=1, op="complete", holder_token=2)
    story.read()


@case("L8")
def who_dies_before_it_can_tell_is_not_refused(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.fault(3, 60, "cut", "w/1")
    story.again(24, Expired)
    story.live(at=25, worker="v/1")
    story.exit(26, token=1, attempt=1)
    if not wrong:
        story.fault(61, 62, "kill", "w/1")
    story.read()


@case("L9")
def an_older_boot_is_accepted(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue("r")
    story.enqueue("s")
    story.claim(2, "r", worker="w/1")
    story.start(2, "r", worker="w/1")
    if not wrong:
        story.end(3, Done, "r")
    story.live("s", at=4, worker="w/2")
    if wrong:
        story.end(9, Done, "r")
    story.read()


@case("L10")
def fifty_pauses_and_nobody_was_refused(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.live()
    for number in range(50 if wrong else 49):
        story.fault(100 + number * 10, 105 + number * 10, "pause", "w/1")
    story.read()


# E ------------------------------------------------------------------------------------------------


@case("E1")
def an_effect_is_of_another_transaction(story: Story, wrong: bool) -> None:
    story.process("nemesis", 0, Expect, job="j", effect="store")
    story.job()
    story.enqueue()
    story.live()
    story.effect(4, v=2 if wrong else 3)
    story.read()


@case("E1")
def a_run_that_is_not_done_left_an_effect(story: Story, wrong: bool) -> None:
    story.process("nemesis", 0, Expect, job="j", effect="store")
    story.job(max_attempts=1)
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.end(4, Dead, why="exhausted")
    if wrong:
        story.effect(4, v=3)
    story.read()


@case("E2")
def an_effect_has_no_start(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.live()
    story.effect(3, token=2 if wrong else 1)
    story.read()


@case("E2")
def a_start_has_two_effects(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.live()
    story.effect(3)
    if wrong:
        story.effect(3)
    story.read()


@case("E3")
def a_sink_that_looks_at_the_token_has_none(story: Story, wrong: bool) -> None:
    story.process("nemesis", 0, Expect, job="j", effect="fenced")
    story.job()
    story.enqueue()
    story.live()
    if not wrong:
        story.effect(3)
    story.read()


@case("E4")
def what_runs_at_most_once_starts_twice(story: Story, wrong: bool) -> None:
    story.job(delivery="at_most_once")
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.fault(3, None, "kill", "w/1")
    if wrong:
        story.again(24, Expired)
        story.live(at=25, worker="v/1")
    else:
        story.end(24, Abandoned, kind="lease_expired")
    story.read()


@case("E5")
def a_cancelled_run_has_an_effect_much_later(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.store(3, CancelOk, run="r")
    story.process("w/1", 4, Told, run="r", token=1)
    story.end(5, Cancelled)
    story.effect(30 if wrong else 6)
    story.read()


@case("E5")
def who_stood_still_could_not_be_told_to_stop(story: Story, wrong: bool) -> None:
    """The sink tells of the effect, but it was the worker that was broken."""
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.store(3, CancelOk, run="r")
    story.fault(3, 25, "pause", "other" if wrong else "w")
    story.end(24, Cancelled, kind="lease_expired")
    story.effect(31)
    story.read()


# R ------------------------------------------------------------------------------------------------


@case("R1")
def an_attempt_is_left_out(story: Story, wrong: bool) -> None:
    story.job(max_attempts=3)
    story.enqueue()
    story.claim(2, attempt=2 if wrong else 1)
    story.start(2)
    story.end(3)
    story.read()


@case("R1")
def there_are_more_attempts_than_allowed(story: Story, wrong: bool) -> None:
    story.job(max_attempts=1 if wrong else 2, backoff_base=60)
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.again(3, Failed, after=60)
    story.live(at=63)
    story.read()


@case("R2")
def the_last_attempt_fails_and_the_run_waits(story: Story, wrong: bool) -> None:
    story.job(max_attempts=1)
    story.enqueue()
    story.claim(2)
    story.start(2)
    if wrong:
        story.again(3, Failed, after=60)
        story.end(70, Cancelled, token=None)
    else:
        story.end(3, Dead, why="exhausted")
    story.read()


@case("R3")
def what_was_given_back_is_charged(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.again(3, Released)
    story.claim(4, attempt=2 if wrong else 1)
    story.start(4)
    story.end(5)
    story.read()


@case("R3")
def what_expired_is_not_charged(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.fault(3, None, "kill", "w/1")
    story.again(24, Expired)
    story.claim(25, worker="v/1", attempt=1 if wrong else 2)
    story.start(25, worker="v/1")
    story.end(26)
    story.read()


@case("R4")
def a_retry_comes_too_soon(story: Story, wrong: bool) -> None:
    story.job(backoff_base=60, backoff_jitter=0.1)
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.again(3, Failed, after=30 if wrong else 55)
    story.live(at=70)
    story.read()


@case("R4")
def a_receiver_may_ask_for_more_time(story: Story, wrong: bool) -> None:
    story.job(backoff_base=60)
    story.enqueue()
    story.claim(2)
    story.start(2)
    wish: dict[str, Any] = {} if wrong else {"wish": 300.0}
    story.again(3, Failed, after=300, **wish)
    story.live(at=400)
    story.read()


@case("R5")
def an_error_that_is_not_to_be_retried_is(story: Story, wrong: bool) -> None:
    story.job(retry_on=("timeout",))
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.again(3, Failed, after=60, kind="ValueError" if wrong else "timeout")
    story.live(at=70)
    story.read()


@case("R6")
def a_crash_loop_goes_on(story: Story, wrong: bool) -> None:
    story.job(max_attempts=9)
    story.enqueue()
    for number in range(1, 4):
        at, worker = number * 100, f"w/{number}"
        story.claim(at, worker=worker)
        story.start(at, worker=worker)
        story.fault(at + 1, None, "kill", worker)
        if number < 3 or wrong:
            story.again(at + LEASE + 2, Expired)
        else:
            story.end(at + LEASE + 2, Dead, why="crash_loop", kind="crash_loop")
    if wrong:
        story.live(at=500, worker="v/1")
    story.read()


@case("R6")
def a_crash_loop_is_given_up_too_soon(story: Story, wrong: bool) -> None:
    story.job(max_attempts=1)
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.fault(3, None, "kill", "w/1")
    story.end(24, Dead, why="crash_loop" if wrong else "exhausted", kind="lease_expired")
    story.read()


@case("R6")
def a_crash_loop_is_given_up_before_the_limit_of_its_job(story: Story, wrong: bool) -> None:
    story.job(max_attempts=9, crash_limit=3 if wrong else 2)
    story.enqueue()
    for number in range(1, 3):
        at, worker = number * 100, f"w/{number}"
        story.claim(at, worker=worker)
        story.start(at, worker=worker)
        story.fault(at + 1, None, "kill", worker)
        if number < 2:
            story.again(at + LEASE + 2, Expired)
        else:
            story.end(at + LEASE + 2, Dead, why="crash_loop", kind="crash_loop")
    story.read()


@case("R6")
def a_suspect_is_turned_away_by_a_worker_that_lacks_what_it_needs(story: Story, wrong: bool) -> None:
    story.job(max_attempts=9)
    story.enqueue()
    for number in range(1, 4):
        at, worker = number * 100, f"w/{number}"
        story.claim(at - 50, worker="v/1", attempt=number)
        story.start(at - 50, worker="v/1", attempt=number)
        story.again(at - 50, Released, why="snoozed", kind="not_here", after=10)
        story.claim(at, worker=worker, attempt=number)
        story.start(at, worker=worker, attempt=number)
        story.fault(at + 1, None, "kill", worker)
        if number < 3 or wrong:
            story.again(at + LEASE + 2, Expired)
        else:
            story.end(at + LEASE + 2, Dead, why="crash_loop", kind="crash_loop")
    if wrong:
        story.live(at=500, worker="v/1")
    story.read()


@case("R6")
def a_suspect_is_given_back_before_it_began(story: Story, wrong: bool) -> None:
    story.job(max_attempts=9)
    story.enqueue()
    for number in range(1, 4):
        at, worker = number * 100, f"w/{number}"
        story.claim(at - 50, worker="v/1", attempt=number)
        story.again(at - 50, Released, why="released")
        story.claim(at, worker=worker, attempt=number)
        story.start(at, worker=worker, attempt=number)
        story.fault(at + 1, None, "kill", worker)
        if number < 3 or wrong:
            story.again(at + LEASE + 2, Expired)
        else:
            story.end(at + LEASE + 2, Dead, why="crash_loop", kind="crash_loop")
    if wrong:
        story.live(at=500, worker="v/1")
    story.read()


@case("R7")
def an_innocent_is_given_up_for_what_ran_beside_it(story: Story, wrong: bool) -> None:
    story.job(max_attempts=9)
    for run in ("r", "other"):
        story.enqueue(run)
    for number in range(1, 4):
        at, worker = number * 100, f"w/{number}"
        beside = number == 1 or (wrong and number == 3)
        for run in ("r", "other") if beside else ("r",):
            story.claim(at, run, worker=worker)
            story.start(at, run, worker=worker)
        story.fault(at + 1, None, "kill", worker)
        if beside:
            story.again(at + LEASE + 2, Expired, run="other")
        if number < 3:
            story.again(at + LEASE + 2, Expired)
        else:
            story.end(at + LEASE + 2, Dead, why="crash_loop", kind="crash_loop")
    story.live("other", at=500, worker="v/1")
    story.read()


# X ------------------------------------------------------------------------------------------------


@case("X1")
def a_cancelled_run_is_claimed_again(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.store(3, CancelOk, run="r")
    story.process("w/1", 4, Told, run="r", token=1)
    if wrong:
        story.again(5, Released)
        story.claim(6, attempt=1)
        story.start(6)
        story.end(7)
    else:
        story.end(5, Cancelled)
    story.read()


@case("X1")
def a_handler_is_not_told(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.store(3, CancelOk, run="r")
    if not wrong:
        story.process("w/1", 8, Told, run="r", token=1)
    story.beats(3, 18)
    story.end(18, Cancelled)
    story.read()


@case("X1")
def a_cancelled_run_goes_on(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.store(3, CancelOk, run="r")
    story.process("w/1", 8, Told, run="r", token=1)
    until = 60 if wrong else 20
    story.beats(3, until)
    story.end(until, Done)
    story.read()


@case("X2")
def a_worker_that_leaves_claims_more(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.fault(10, 40, "term", "w/1")
    story.claim(12 if wrong else 10.5)
    story.start(12)
    story.end(13)
    story.process("w/1", 40, Down)
    story.read()


@case("X2")
def a_worker_leaves_and_keeps_a_run(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(8)
    story.start(8)
    story.fault(10, 20, "term", "w/1")
    story.beat(13)
    if not wrong:
        story.again(19, Released)
    story.process("w/1", 20, Down)
    if wrong:
        story.again(60, Expired)
    story.claim(61, attempt=2 if wrong else 1, worker="v/1")
    story.start(61, worker="v/1")
    story.end(62)
    story.read()


@case("X3")
def a_worker_that_leaves_stops_beating(story: Story, wrong: bool) -> None:
    story.job()
    story.enqueue()
    story.claim(8)
    story.start(8)
    story.fault(10, 40, "term", "w/1")
    if wrong:
        story.beat(14)
    else:
        story.beats(8, 33)
    story.again(33, Released)
    story.process("w/1", 34, Down)
    story.claim(35, attempt=1, worker="v/1")
    story.start(35, worker="v/1")
    story.end(36)
    story.read()


# V ------------------------------------------------------------------------------------------------


@case("V1")
def a_process_needs_a_restart(story: Story, wrong: bool) -> None:
    story.up("w/1")
    story.up("s/1", role="scheduler")
    story.fault(10, None, "cut", "db")
    story.heal(40)
    story.process("s/1", 42, Alive)
    story.process("w/1", 200 if wrong else 42, Alive)
    story.read()


@case("V1")
def a_process_asked_just_before_the_end_and_leases_are_short(story: Story, wrong: bool) -> None:
    story.process("nemesis", 0, Expect, lease=8.0)
    story.up("s/1", role="scheduler")
    story.fault(10, 40, "lost_reply", "s/1")
    story.heal(40)
    story.process("s/1", 80 if wrong else 72, Alive)
    story.read()


@case("V2")
def a_run_stays_with_a_worker_without_a_sign(story: Story, wrong: bool) -> None:
    story.job(timeout=3000)
    story.enqueue()
    story.claim(2)
    story.start(2)
    if not wrong:
        story.beats(2, 300)
    else:
        story.fault(3, 300, "cut", "w1/1")
    story.end(300)
    story.read()


@case("V2")
def nobody_gives_a_sign_to_a_database_that_is_away(story: Story, wrong: bool) -> None:
    story.job(timeout=3000)
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.fault(3, 30 if wrong else 290, "down", "db")
    story.end(300)
    story.read()
