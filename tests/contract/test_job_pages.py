"""Lists of jobs: newest first, filtered, in pages, and never another tenant's."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.lifecycle import JobAction, change_of
from gnomon.core.executions.records import JobFilter
from gnomon.core.jobs.job import Definition, Delivery, Job, JobId, JobStatus
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.jobs.shown import shown_job
from gnomon.core.time.schedule import CronTiming, Interval, Schedule
from gnomon.core.values.document import Document
from gnomon.errors import InvalidInput, JobNotFound
from gnomon.store.protocols.store import Store
from tests.contract.given import HOUR, MINUTE, NOW, act, create, create_one, new_id, new_job, other_tenant


async def names(store: Store, wanted: JobFilter) -> list[str]:
    return [job.name for job in (await store.jobs.page(DEFAULT_TENANT, wanted, limit=100)).items]


async def read_on(store: Store, after: UUID | None, *, limit: int) -> tuple[list[Job], UUID | None]:
    page = await store.jobs.page(DEFAULT_TENANT, JobFilter(), limit=limit, after=after)
    return list(page.items), page.next


async def test_jobs_are_listed_newest_first(store: Store) -> None:
    await create(store, new_job("first"), new_job("second"))
    await create(store, new_job("third"))

    assert await names(store, JobFilter()) == ["third", "second", "first"]


async def test_pages_meet_without_a_gap_or_a_repeat(store: Store) -> None:
    created = await create(store, *(new_job() for _ in range(7)))

    listed, cursor = await read_on(store, None, limit=3)
    while cursor is not None:
        more, cursor = await read_on(store, cursor, limit=3)
        listed += more

    assert listed == created[::-1]


async def test_a_full_last_page_says_that_it_is_the_last(store: Store) -> None:
    await create(store, *(new_job() for _ in range(4)))

    page = await store.jobs.page(DEFAULT_TENANT, JobFilter(), limit=4)

    assert (len(page.items), page.next) == (4, None)


async def test_jobs_that_arrive_while_somebody_turns_pages_move_nothing(store: Store) -> None:
    old = await create(store, *(new_job() for _ in range(5)))
    first, cursor = await read_on(store, None, limit=2)

    await create(store, *(new_job() for _ in range(5)))
    second, cursor = await read_on(store, cursor, limit=2)
    await create_one(store)
    third, cursor = await read_on(store, cursor, limit=2)

    assert first + second + third == old[::-1]
    assert cursor is None


async def test_an_empty_list_is_a_page_too(store: Store) -> None:
    page = await store.jobs.page(DEFAULT_TENANT, JobFilter(), limit=10)

    assert (page.items, page.next) == ((), None)


async def test_deleted_jobs_are_listed_only_for_those_who_ask(store: Store) -> None:
    await create_one(store, new_job("kept"))
    await act(store, await create_one(store, new_job("gone")), JobAction.DELETE)
    await act(store, await create_one(store, new_job("paused")), JobAction.PAUSE)

    assert await names(store, JobFilter()) == ["paused", "kept"]
    assert await names(store, JobFilter(status=JobStatus.DELETED)) == ["gone"]
    assert await names(store, JobFilter(status=JobStatus.PAUSED)) == ["paused"]
    assert await names(store, JobFilter(status=JobStatus.ACTIVE)) == ["kept"]


async def test_filters_narrow_the_list_together(store: Store) -> None:
    http = Definition("http")
    await create(
        store,
        new_job("a", tags={"x", "y"}, definition=http),
        new_job("b", tags={"x"}),
        new_job("c", tags={"y"}, definition=http),
    )

    assert await names(store, JobFilter(kind="http")) == ["c", "a"]
    assert await names(store, JobFilter(tag="x")) == ["b", "a"]
    assert await names(store, JobFilter(kind="http", tag="x")) == ["a"]
    assert await names(store, JobFilter(name="b")) == ["b"]
    assert await names(store, JobFilter(kind="http", name="b")) == []


async def test_names_are_found_by_how_they_begin_and_by_what_they_contain(store: Store) -> None:
    known = ["daily", "daily report", "Daily", "dail", "daily\U0010ffff", "daimy", "nightly report", "dailz"]
    await create(store, *(new_job(name) for name in known))
    newest_first = known[::-1]

    for prefix in ("daily", "daily ", "d", "dail", "D", "x", "daily\U0010ffff", "daily%", "da_ly"):
        begun = [name for name in newest_first if name.startswith(prefix)]
        assert await names(store, JobFilter(name_prefix=prefix)) == begun
    for part in ("report", "ly", "y r", "%", "_", "\U0010ffff"):
        found = [name for name in newest_first if part in name]
        assert await names(store, JobFilter(name_contains=part)) == found
    assert await names(store, JobFilter(name_prefix="daily", name_contains="port")) == ["daily report"]
    with pytest.raises(InvalidInput):
        JobFilter(name="daily", name_prefix="d")


async def test_pages_of_a_prefix_meet_and_keep_to_the_other_filters(store: Store) -> None:
    jobs = await create(store, *(new_job(f"{'odd' if n % 2 else 'even'} {n}") for n in range(10)))
    paused = await act(store, jobs[4], JobAction.PAUSE)
    await act(store, jobs[2], JobAction.DELETE)
    wanted = JobFilter(name_prefix="even ")

    first = await store.jobs.page(DEFAULT_TENANT, wanted, limit=2)
    rest = await store.jobs.page(DEFAULT_TENANT, wanted, limit=2, after=first.next)

    assert [one.name for one in first.items + rest.items] == ["even 8", "even 6", "even 4", "even 0"]
    assert rest.next is None
    of_status = replace(wanted, status=JobStatus.PAUSED)
    assert (await store.jobs.page(DEFAULT_TENANT, of_status, limit=9)).items == (paused,)
    assert await names(store, replace(wanted, status=JobStatus.DELETED)) == ["even 2"]
    assert await names(store, JobFilter(name="even 2", status=JobStatus.DELETED)) == ["even 2"]
    assert (await store.jobs.page(await other_tenant(store), wanted, limit=9)).items == ()


async def test_a_filter_by_kind_follows_the_current_revision(store: Store) -> None:
    job = await create_one(store, new_job("report"))
    change = change_of(job, JobAction.UPDATE, next_run_time=None)

    await store.jobs.change([replace(change, definition=Definition("http"))], now=NOW)

    assert await names(store, JobFilter(kind="echo")) == []
    assert await names(store, JobFilter(kind="http")) == ["report"]


async def test_a_filter_by_tag_follows_a_change_of_tags(store: Store) -> None:
    job = await create_one(store, new_job("report", tags={"old"}))
    change = change_of(job, JobAction.UPDATE, next_run_time=None)

    await store.jobs.change([replace(change, tags=frozenset({"new"}))], now=NOW)

    assert await names(store, JobFilter(tag="old")) == []
    assert await names(store, JobFilter(tag="new")) == ["report"]


async def test_jobs_can_be_listed_by_when_they_run_next(store: Store) -> None:
    await create(
        store,
        new_job("soon", next_run_time=NOW + MINUTE),
        new_job("sharp", next_run_time=NOW + HOUR),
        new_job("never"),
    )

    assert await names(store, JobFilter(next_run_before=NOW + HOUR)) == ["soon"]


async def test_filtered_pages_go_on_where_they_ended(store: Store) -> None:
    jobs = await create(store, *(new_job(tags={"even"} if n % 2 == 0 else {"odd"}) for n in range(8)))
    wanted = JobFilter(tag="even")

    first = await store.jobs.page(DEFAULT_TENANT, wanted, limit=3)
    rest = await store.jobs.page(DEFAULT_TENANT, wanted, limit=3, after=first.next)

    assert first.items + rest.items == (jobs[6], jobs[4], jobs[2], jobs[0])
    assert rest.next is None


# Tenants ----------------------------------------------------------------------------------------------


async def test_another_tenants_job_does_not_exist(store: Store) -> None:
    neighbours = await other_tenant(store)
    job = await create_one(store, new_job("report"))
    theirs = change_of(job, JobAction.DELETE, next_run_time=None)

    with pytest.raises(JobNotFound):
        await store.jobs.get(neighbours, job.id)
    with pytest.raises(JobNotFound):
        await store.jobs.named(neighbours, "report")
    with pytest.raises(JobNotFound):
        await store.jobs.revision(neighbours, job.id, 1)
    with pytest.raises(JobNotFound):
        await store.jobs.change([replace(theirs, tenant_id=neighbours)], now=NOW)

    assert (await store.jobs.page(neighbours, JobFilter(), limit=10)).items == ()
    assert await store.jobs.get(DEFAULT_TENANT, job.id) == job


async def test_two_tenants_may_use_one_name(store: Store) -> None:
    neighbours = await other_tenant(store)

    ours = await create_one(store, new_job("report"))
    theirs = await create_one(store, new_job("report", tenant_id=neighbours))

    assert await store.jobs.named(DEFAULT_TENANT, "report") == ours
    assert await store.jobs.named(neighbours, "report") == theirs


async def test_what_nobody_created_is_not_found(store: Store) -> None:
    job = await create_one(store)

    with pytest.raises(JobNotFound):
        await store.jobs.get(DEFAULT_TENANT, JobId(new_id()))
    with pytest.raises(JobNotFound):
        await store.jobs.named(DEFAULT_TENANT, "nobody")
    with pytest.raises(JobNotFound):
        await store.jobs.revision(DEFAULT_TENANT, job.id, 2)


async def test_jobs_are_found_by_the_type_of_their_schedule(store: Store) -> None:
    hourly = Definition("echo", schedule=Schedule(Interval(HOUR, anchor=NOW)))
    await create(store, new_job("by hand"), replace(new_job("hourly"), definition=hourly))

    assert await names(store, JobFilter(type="interval")) == ["hourly"]
    assert await names(store, JobFilter(type="manual")) == ["by hand"]


async def test_jobs_are_found_by_when_they_run_next(store: Store) -> None:
    for name, due in (("soon", NOW + MINUTE), ("later", NOW + HOUR)):
        await create(store, replace(new_job(name), next_run_time=due))

    assert await names(store, JobFilter(next_run_after=NOW + MINUTE)) == ["later"]
    assert await names(store, JobFilter(next_run_after=NOW, next_run_before=NOW + HOUR)) == ["soon"]


async def test_many_jobs_are_read_at_once_each_once_and_no_foreign_ones(store: Store) -> None:
    one, two = await create(store, new_job("one"), new_job("two"))
    tenant = await other_tenant(store)

    assert list(await store.jobs.many(DEFAULT_TENANT, [two.id, one.id, two.id, JobId(new_id())])) == [
        two,
        one,
    ]
    assert list(await store.jobs.many(tenant, [one.id])) == []


async def test_jobs_are_shown_as_they_are_read(store: Store) -> None:
    nightly = Schedule(CronTiming("30 2 * * 1-5", timezone="Europe/Berlin"), jitter=MINUTE, max_runs=7)
    rich = Definition(
        "echo",
        payload=Document('{"to":["ä",1.5]}'),
        schedule=nightly,
        retry=RetryPolicy(max_attempts=5, backoff_base=MINUTE / 8, retry_on=frozenset({"B", "A"})),
        capabilities=frozenset({"gpu", "arm"}),
        timeout=MINUTE / 7,
        max_concurrent=2,
        delivery=Delivery.AT_MOST_ONCE,
    )
    [plain] = await create(store, new_job("plain"))
    [full] = await create(
        store,
        replace(
            new_job("full"),
            definition=rich,
            next_run_time=NOW + HOUR,
            tags=frozenset({"b", "a"}),
            dependencies=frozenset({plain.id}),
        ),
    )
    tenant = await other_tenant(store)

    asked = [full.id, plain.id, full.id, JobId(new_id())]
    assert list(await store.jobs.shown(DEFAULT_TENANT, asked)) == [shown_job(full), shown_job(plain)]
    assert list(await store.jobs.shown(tenant, asked)) == []
