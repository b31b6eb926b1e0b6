"""The settle: the only writer of outcomes, sent once or ten times with the same effect."""

from __future__ import annotations

import pytest

from tarantella.domain.breaker import Breaker, BreakerState
from tarantella.domain.errors import WorkerDead
from tarantella.domain.event import (
    MAX_PAGES_REACHED,
    PAGE_FAILED,
    RUN_COMPLETED,
    STRATEGY_MISSING,
    TRAP_STOPPED,
    Event,
    Level,
)
from tarantella.domain.outcome import Body, LaneNews, Outcome
from tarantella.domain.page import Page, PageState, Skip
from tarantella.domain.refused import Refused
from tarantella.domain.run import RunStatus
from tarantella.domain.spec import Spec
from tarantella.domain.trap import TrapNote
from tarantella.store import lanes, page_rows, pages, records, runs
from tarantella.store.database import Database
from tests.contract.world import HOST, NOW, World, again, done, failed, link, moved, skipped, tried


def test_a_page_that_is_done_leaves_its_record_its_attempt_and_its_links(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    [page] = world.take(run)
    result = world.settle(worker, done(page, link("a"), link("b")))
    assert (result.pages, result.lost) == (1, 0)
    assert world.states(run) == {"": "done", "a": "pending", "b": "pending"}
    assert [data for _, data in world.read(records.after, run_id=run, last=0)] == [{"url": page.url}]
    [attempt] = world.read(pages.attempts, page_id=page.id)
    assert (attempt["n"], attempt["decision"], attempt["status"]) == (1, "done", 200)
    found = world.pages(run)[link("a").url]
    assert (found["found_on"], found["depth"]) == (page.id, 2)
    row = world.run(run)
    assert (row.records, row.requests, row.bytes) == (1, 1, 1_000)
    assert row.disk_bytes > row.stored == len(f'{{"url": "{page.url}"}}')


def test_pages_that_are_done_each_keep_their_own_status(world: World) -> None:
    run, worker = world.submit("1", "2", "3"), world.worker()
    one, two, three = world.take(run)
    answers = {one.url: 200, two.url: 203, three.url: None}
    world.settle(worker, *(done(page)._replace(status=answers[page.url]) for page in (one, two, three)))
    stored = world.pages(run)
    assert {url: stored[url]["status"] for url in stored} == answers
    assert {page["state"] for page in stored.values()} == {"done"}


def test_times_may_be_whole_numbers(world: World) -> None:
    """PostgreSQL's driver wants all values of a column to be of one type."""
    run, worker = world.submit("1", "2", "3"), world.worker()
    one, two, _ = world.take(run)
    world.settle(worker, done(one)._replace(attempt=tried()._replace(started_at=17)), done(two))
    assert [found["started_at"] for found in world.read(pages.attempts, page_id=one.id)] == [17.0]


def test_a_kept_body_is_stored_beside_its_page(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    [page] = world.take(run)
    body = Body("text/html", b"\x00squeezed\xff")
    world.settle(worker, Outcome(page, PageState.DONE, body=body))
    kept = world.read(lambda tx: tx.first("SELECT * FROM bodies"))
    assert kept is not None
    assert (kept.page_id, kept.content_type, kept.body) == (page.id, "text/html", b"\x00squeezed\xff")


@pytest.mark.parametrize("odd", ["\x00", "\ud800"], ids=["NUL", "half a character"])
def test_characters_that_no_database_can_hold_cost_no_page(world: World, odd: str) -> None:
    run, worker = world.submit("1", "2", "3"), world.worker()
    one, two, three = world.take(run)
    said = Event(PAGE_FAILED, meta={"said": "x\x00y"})
    first = done(one, link("found"))._replace(
        records=(f'{{"title": "x{odd}y"}}' if odd != "\x00" else r'{"title": "x\u0000y"}',)
    )
    second = failed(two, "bad_response", said)._replace(detail=f"x{odd}y")
    attempt = tried(f"x{odd}y")._replace(detail=f"x{odd}y")
    third = done(three, final=f"https://a.example/x{odd}y")._replace(attempt=attempt)
    assert world.settle(worker, first, second, third).pages == 3
    [(_, record), _] = world.read(records.after, run_id=run, last=0)
    assert record["title"] in ("x\x00y", "x\ufffdy")
    told = [world.run(run).error_message, world.pages(run)[two.url]["detail"], world.pages(run)[three.url]["final_url"]]
    told += [kept[name] for kept in world.read(pages.attempts, page_id=three.id) for name in ("decision", "detail")]
    for text in told:
        assert text[text.index("x") :][-3:] in ("x\x00y", "x\ufffdy")


# -- the fence


def test_a_page_that_somebody_else_finished_is_left_as_it_is(world: World) -> None:
    run, worker = world.submit("", "other"), world.worker()
    page = world.take_one(run, "")
    world.settle(worker, done(page))
    before = world.dump()
    result = world.settle(worker, failed(page), news=[])
    assert (result.pages, result.lost) == (0, 1)
    assert world.dump() == before


def test_what_a_late_outcome_had_found_is_dropped(world: World) -> None:
    run, worker = world.submit("", "other"), world.worker()
    page = world.take_one(run, "")
    world.settle(worker, again(page, NOW + 5))
    before = world.dump()
    assert world.settle(worker, done(page, link("ghost"))).lost == 1
    assert world.dump() == before


def test_a_page_that_moved_to_another_lane_does_not_listen_to_its_old_one(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    [page] = world.take(run)
    world.settle(worker, moved(page, "https://b.example/"))
    # Even with the right number of tries.
    [now_there] = world.take(run, "b.example")
    stale = Outcome(
        Page(page.id, run, page.fingerprint, page.lane, page.url, 1, now_there.tries, 0, "http", 0, True, None),
        PageState.DONE,
    )
    before = world.dump()
    assert world.settle(worker, stale).lost == 1
    assert world.dump() == before


def test_an_outcome_of_a_deleted_run_does_not_reach_the_page_that_got_its_number(world: World) -> None:
    worker, old = world.worker(), world.submit("")
    [in_flight] = world.take(old)
    world.cancel(old)
    world.close(old)
    while not world.write(runs.delete_some, run_id=old):
        pass
    new = world.submit("")
    [page] = world.take(new)
    # SQLite gives the numbers of deleted rows away again; other databases don't.
    late = done(in_flight._replace(id=page.id), link("ghost"))
    before = world.dump()
    assert world.settle(worker, late).lost == 1
    assert world.dump() == before


def test_a_settle_that_is_sent_again_changes_nothing(world: World) -> None:
    run, worker = world.submit("", "x", "y"), world.worker()
    by_path = {path: world.take_one(run, path) for path in ("", "x", "y")}
    outcomes = (
        done(by_path[""], link("a"), link("b"), refused={"scope": Refused(3, ("s",))}),
        failed(by_path["x"], "not_found", Event(PAGE_FAILED)),
        again(by_path["y"], NOW + 10),
    )
    world.settle(worker, *outcomes)
    before = world.dump()
    for _ in range(3):
        result = world.settle(worker, *outcomes)
        assert (result.pages, result.lost) == (0, 3)
    assert world.dump() == before


def test_the_last_settle_of_a_run_can_be_sent_again_too(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    [page] = world.take(run)
    assert world.settle(worker, done(page)).ended == {run: RunStatus.COMPLETED}
    before = world.dump()
    assert world.settle(worker, done(page)).ended == {}
    assert world.dump() == before
    assert world.messages(run).count(RUN_COMPLETED) == 1


def test_the_same_page_twice_in_one_batch_counts_once(world: World) -> None:
    run, worker = world.submit("", "other"), world.worker()
    page = world.take_one(run, "")
    result = world.settle(worker, done(page), failed(page))
    assert (result.pages, result.lost) == (1, 1)
    assert world.states(run)[""] == "done"


def test_a_dead_worker_can_settle_nothing(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    [page] = world.take(run)
    world.declare_dead(worker)
    before = world.dump()
    with pytest.raises(WorkerDead):
        world.settle(worker, done(page))
    with pytest.raises(WorkerDead):
        world.settle("nobody-ever-registered", done(page))
    assert world.dump() == before


# -- counts and the end


def test_counts_add_up_at_every_commit_of_a_long_story(world: World) -> None:
    run, worker = (
        world.submit(*(f"s{number}" for number in range(10)), spec=Spec(max_pages=40)),
        world.worker(),
    )
    for turn in range(40):
        batch = world.take(run, limit=3)
        if not batch:
            world.now += 10
            batch = world.take(run, limit=3)
        outcomes = []
        for page in batch:
            kind = (page.id + turn) % 5
            outcomes.append(
                (
                    done(page, *(link(f"{page.id}/{n}") for n in range(3))),
                    failed(page),
                    again(page, world.now + 5),
                )[kind % 3]
                if kind < 4
                else skipped(page, Skip.CONTENT_TYPE)
            )
        world.settle(worker, *outcomes)
        world.check()
        if world.run(run).is_over:
            break
    assert world.run(run).counts.total > 20


@pytest.mark.parametrize(
    ("partial_ok", "fates", "expected"),
    [
        (True, "dd", RunStatus.COMPLETED),
        (True, "df", RunStatus.PARTIAL),
        (False, "df", RunStatus.FAILED),
        (True, "ff", RunStatus.FAILED),
        (True, "ds", RunStatus.COMPLETED),
        (True, "ss", RunStatus.COMPLETED),
        (True, "dc", RunStatus.PARTIAL),
        (True, "cc", RunStatus.FAILED),
    ],
)
def test_a_run_ends_when_its_last_page_does_and_as_its_counts_say(
    world: World, partial_ok: bool, fates: str, expected: RunStatus
) -> None:
    run, worker = world.submit("1", "2", spec=Spec(partial_ok=partial_ok)), world.worker()
    ended: dict[str, RunStatus] = {}
    for page, fate in zip(world.take(run), fates, strict=True):
        assert ended == {}
        outcome = {
            "d": done(page),
            "f": failed(page),
            "s": skipped(page, Skip.ROBOTS),
            "c": skipped(page, Skip.DEADLINE),
        }[fate]
        ended = world.settle(worker, outcome).ended
    assert ended == {run: expected}
    row = world.run(run)
    assert (row.status, row.finished_at) == (expected, NOW)
    assert world.read(lanes.stands_of, names=[HOST]) == []


def test_a_failed_run_says_with_what_and_a_completed_one_does_not(world: World) -> None:
    worker = world.worker()
    bad, good = world.submit("1"), world.submit("2")
    [page] = world.take(bad)
    world.settle(worker, failed(page, "blocked"))
    assert (world.run(bad).failure_code, world.run(bad).error_message) == ("blocked", "HTTP 404")
    [page] = world.take(good)
    world.settle(worker, again(page, NOW))
    [page] = world.take(good)
    world.settle(worker, done(page))
    assert (world.run(good).failure_code, world.run(good).error_message) == (None, None)


def test_two_runs_in_one_settle_keep_apart(world: World) -> None:
    one, two, worker = world.submit("x"), world.submit("x", "y"), world.worker()
    [of_one] = world.take(one)
    of_two = world.take_one(two, "x")
    result = world.settle(worker, done(of_one, link("z")), done(of_two, link("z")))
    assert (result.pages, result.ended) == (2, {})
    assert world.states(one) == {"x": "done", "z": "pending"}
    assert world.states(two) == {"x": "done", "y": "pending", "z": "pending"}


def test_links_found_on_several_pages_are_one_page(world: World) -> None:
    run, worker = world.submit("1", "2"), world.worker()
    one, two = world.take(run)
    world.settle(worker, done(one, link("a"), link("a"), link("b")), done(two, link("b"), link("1")))
    assert sorted(world.states(run)) == ["1", "2", "a", "b"]
    world.settle(worker, *(done(page, link("a"), link("1")) for page in world.take(run)))
    assert world.status(run) is RunStatus.COMPLETED
    assert world.run(run).counts.total == 4


@pytest.mark.parametrize("known", [0, 1, 3], ids=["none", "one", "all"])
def test_pages_that_are_new_are_told_with_the_numbers_that_they_got(database: Database, known: int) -> None:
    world = World(database)  # whose pages nobody counts
    run, links = world.create("start"), [link("b"), link("a"), link("c")]
    world.write(runs.add_start_pages, run_id=run, links=links[:known], strategy="http", now=NOW)
    rows = page_rows.start_pages(run, links, "http", NOW)
    told = database.write_now(lambda tx: page_rows.insert_pages(tx, rows))
    stored = world.pages(run)
    assert [(page.id, page.run_id, page.lane, page.kind) for page in told] == [
        (stored[each.url]["id"], run, HOST, "page") for each in links[known:]
    ]


def test_refused_links_are_counted_with_a_few_samples(world: World) -> None:
    run, worker = world.submit("1", "2", "3"), world.worker()
    for page in world.take(run)[:2]:
        world.settle(worker, done(page, refused={"scope": Refused(10, ("x", "y")), "depth": Refused(1, ("z",))}))
    assert world.run(run).refused == {
        "scope": {"count": 20, "samples": ["x", "y", "x"]},
        "depth": {"count": 2, "samples": ["z", "z"]},
    }


# -- max_pages


def test_a_run_never_has_more_pages_than_its_limit_and_says_so_once(world: World) -> None:
    run, worker = world.submit("", spec=Spec(max_pages=3)), world.worker()
    [page] = world.take(run)
    result = world.settle(worker, done(page, *(link(f"{n}") for n in range(5))))
    assert result.full == {run}
    row = world.run(run)
    assert (row.counts.total, row.counts.pending, row.counts.skipped, row.surplus) == (6, 2, 3, 3)
    assert row.is_full
    for page in world.take(run):
        world.settle(worker, done(page, link(f"more-{page.id}")))
    assert world.status(run) is RunStatus.COMPLETED
    assert world.run(run).counts.done == 3
    assert world.messages(run).count(MAX_PAGES_REACHED) == 1
    assert {page["reason"] for page in world.pages(run).values() if page["state"] == "skipped"} == {"max_pages"}


def test_the_last_settle_can_find_only_surplus_and_still_ends_the_run(world: World) -> None:
    run, worker = world.submit("", spec=Spec(max_pages=1)), world.worker()
    [page] = world.take(run)
    assert world.settle(worker, done(page, link("a"), link("b"))).ended == {run: RunStatus.COMPLETED}
    assert world.run(run).counts.skipped == 2


def test_a_run_that_is_exactly_full_has_no_surplus_and_says_nothing(world: World) -> None:
    run, worker = world.submit("", spec=Spec(max_pages=3)), world.worker()
    [page] = world.take(run)
    assert world.settle(worker, done(page, link("a"), link("b"))).full == {run}
    assert world.run(run).surplus == 0
    assert MAX_PAGES_REACHED not in world.messages(run)


def test_links_that_were_refused_because_the_run_is_full_are_announced_once(world: World) -> None:
    run, worker = world.submit("", "x", "y", spec=Spec(max_pages=3)), world.worker()
    for page in world.take(run):
        world.settle(worker, done(page, refused={"max_pages": Refused(7, ("https://a.example/z",))}))
    assert world.run(run).refused["max_pages"]["count"] == 21
    assert world.messages(run).count(MAX_PAGES_REACHED) == 1


def test_more_start_addresses_than_the_limit_are_surplus_too(world: World) -> None:
    run = world.submit(*(f"{n}" for n in range(10)), spec=Spec(max_pages=4))
    row = world.run(run)
    assert (row.counts.total, row.counts.pending, row.surplus) == (10, 4, 6)
    assert world.messages(run).count(MAX_PAGES_REACHED) == 1
    assert len(world.take(run)) == 4


# -- duplicates


def test_a_redirect_to_a_page_that_is_done_is_a_duplicate(world: World) -> None:
    run, worker = world.submit("target", "alias", "last"), world.worker()
    world.settle(worker, done(world.take_one(run, "target")))
    world.settle(worker, done(world.take_one(run, "alias"), link("found"), final=link("target").url))
    assert world.states(run) == {
        "target": "done",
        "alias": "skipped(duplicate)",
        "last": "pending",
        "found": "pending",
    }
    assert world.run(run).records == 1


def test_a_page_that_a_redirect_already_led_to_is_a_duplicate(world: World) -> None:
    run, worker = world.submit("target", "alias", "last"), world.worker()
    target = world.take_one(run, "target")
    world.settle(worker, done(world.take_one(run, "alias"), final=link("target").url))
    world.settle(worker, done(target))
    assert world.states(run) == {"target": "skipped(duplicate)", "alias": "done", "last": "pending"}


@pytest.mark.parametrize("target_first", [True, False])
def test_of_duplicates_in_one_batch_exactly_one_is_done(world: World, target_first: bool) -> None:
    run, worker = world.submit("target", "alias", "alias2", "last"), world.worker()
    batch = [
        done(world.take_one(run, "target")),
        done(world.take_one(run, "alias"), final=link("target").url),
        done(world.take_one(run, "alias2"), final=link("target").url),
    ]
    world.settle(worker, *(batch if target_first else batch[::-1]))
    states = world.states(run)
    assert sorted(states[path] for path in ("target", "alias", "alias2")) == [
        "done",
        "skipped(duplicate)",
        "skipped(duplicate)",
    ]
    assert world.run(run).records == 1


def test_two_aliases_of_an_address_that_is_no_page_are_one_page(world: World) -> None:
    run, worker = world.submit("alias", "alias2", "last"), world.worker()
    for path in ("alias", "alias2"):
        world.settle(worker, done(world.take_one(run, path), final="https://a.example/elsewhere"))
    assert world.states(run) == {"alias": "done", "alias2": "skipped(duplicate)", "last": "pending"}


def test_a_page_that_failed_does_not_make_others_duplicates(world: World) -> None:
    run, worker = world.submit("target", "alias", "last"), world.worker()
    world.settle(worker, failed(world.take_one(run, "target")))
    world.settle(worker, done(world.take_one(run, "alias"), final=link("target").url))
    assert world.states(run)["alias"] == "done"


def test_duplicates_are_looked_for_in_the_same_run_only(world: World) -> None:
    one, two, worker = world.submit("target", "last"), world.submit("alias", "last"), world.worker()
    world.settle(worker, done(world.take_one(one, "target")))
    world.settle(worker, done(world.take_one(two, "alias"), final=link("target").url))
    assert world.states(two)["alias"] == "done"


def test_the_detail_of_a_duplicate_shows_no_secret(world: World) -> None:
    run, worker = world.submit("target?token=s3cret", "alias", "last"), world.worker()
    world.settle(worker, done(world.take_one(run, "target?token=s3cret")))
    world.settle(worker, done(world.take_one(run, "alias"), final=link("target?token=s3cret").url))
    page = world.pages(run)[link("alias").url]
    assert (page["reason"], page["detail"]) == ("duplicate", "https://a.example/target?token=***")


# -- redirects, stands, lanes


def test_a_redirect_moves_a_page_to_the_lane_of_its_new_host(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    [page] = world.take(run)
    result = world.settle(worker, moved(page, "https://b.example/x", hops=3))
    assert result.woken_lanes == {"b.example"}
    assert world.take(run) == []
    [there] = world.take(run, "b.example")
    assert (there.id, there.fingerprint, there.url, there.hops) == (
        page.id,
        page.fingerprint,
        "https://b.example/x",
        3,
    )
    assert (there.tries, there.charged) == (1, 0)
    assert (world.ready_at(run), world.ready_at(run, "b.example")) == (None, NOW)
    assert [lane.name for lane in world.acquire(worker)] == ["b.example"]


def test_where_a_start_address_led_becomes_a_root_of_the_run(world: World) -> None:
    run, worker = world.submit("", "x"), world.worker()
    page = world.take_one(run, "")
    world.settle(worker, Outcome(page, PageState.DONE, root="https://www.a.example/"))
    assert world.run(run).roots[-1] == "https://www.a.example/"
    assert world.run(run).roots[:-1] == (link("").url, link("x").url)


def test_a_stand_is_ready_when_its_first_page_is(world: World) -> None:
    run, worker = world.submit("1", "2"), world.worker()
    one, two = world.take(run)
    assert world.ready_at(run) == NOW
    world.settle(worker, again(one, NOW + 50))
    assert world.ready_at(run) == NOW
    world.settle(worker, again(two, NOW + 20))
    assert world.ready_at(run) == NOW + 20
    assert world.take(run) == []
    world.now = NOW + 20
    assert [page.id for page in world.take(run)] == [two.id]
    world.settle(worker, done(world.take(run)[0]))
    assert world.ready_at(run) == NOW + 50


def test_pages_are_taken_in_the_order_in_which_they_are_due_and_never_those_in_hand(world: World) -> None:
    run, worker = world.submit(*(f"{n}" for n in range(5))), world.worker()
    first = world.take(run, limit=2)
    world.settle(worker, again(first[0], NOW + 1))
    world.now = NOW + 2
    held = [first[1].id]
    rest = world.take(run, held=held)
    assert [page.id for page in rest][-1] == first[0].id
    assert first[1].id not in {page.id for page in rest}
    assert len(rest) == 4
    assert world.take(run, limit=2, held=held) == rest[:2]


def test_a_page_is_taken_with_its_past_and_one_beside_it_without(world: World) -> None:
    run, worker = world.submit("", "other"), world.worker()
    start, other = world.take(run)
    world.settle(worker, done(start, link("new")), again(other, NOW))
    tried_before, fresh = sorted(world.take(run), key=lambda page: page.id)
    assert tried_before == other._replace(tries=1, charged=1)
    assert (tried_before.is_start, fresh.is_start) == (True, False)
    assert (fresh.url, fresh.tries, fresh.charged, fresh.hops) == (link("new").url, 0, 0, 0)
    world.settle(worker, moved(fresh, "https://b.example/"))
    [elsewhere] = world.take(run, "b.example")
    assert (elsewhere.url, elsewhere.asked_url, elsewhere.hops) == ("https://b.example/", fresh.url, 1)


def test_what_an_owner_learned_of_its_host_is_there_for_the_next_one(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    world.acquire(worker)
    breaker = Breaker(BreakerState.OPEN, 5, NOW + 300, 2)
    world.settle(worker, news=[LaneNews(HOST, NOW + 60, breaker, clean=False)])
    assert world.read(lanes.next_ready, run_id=run) == NOW + 300, "its breaker is open for longer than it asked for"
    world.retire(worker)
    other = world.worker()
    assert world.acquire(other) == []
    world.now += 60
    assert world.acquire(other) == [lanes.Lane(HOST, NOW + 60, breaker, unclean_deaths=0)]


def test_news_of_a_lane_that_is_not_ours_are_not_heard(world: World) -> None:
    world.submit("")
    owner, other = world.worker(), world.worker()
    world.acquire(owner)
    before = world.dump()
    world.settle(other, news=[LaneNews(HOST, NOW + 60, Breaker(), clean=True)])
    assert world.dump() == before


@pytest.mark.slow
def test_a_settle_of_ten_thousand_links_is_one_transaction(world: World) -> None:
    run, worker = world.submit("", spec=Spec(max_pages=100_000)), world.worker()
    [page] = world.take(run)
    world.settle(worker, done(page, *(link(f"{n}") for n in range(10_000))))
    assert world.run(run).counts.pending == 10_000
    world.cancel(run)
    rounds = 0
    while world.close(run).pages:
        rounds += 1
    assert rounds == 10
    assert world.status(run) is RunStatus.CANCELLED


def test_what_a_run_says_once_is_said_once_whoever_says_it(world: World) -> None:
    run, worker = world.submit("a", "b"), world.worker()
    world.acquire(worker)
    missing = Event(STRATEGY_MISSING, Level.WARN)
    for page in world.take(run):
        world.settle(worker, done(page)._replace(events=(missing, Event("Something else"), missing)))
    told = world.messages(run)
    assert (told.count(STRATEGY_MISSING), told.count("Something else")) == (1, 2)
    assert world.run(run).last_event == len(told)
    world.check()


def test_what_a_duplicate_found_out_is_kept(world: World) -> None:
    run, worker = world.submit("target", "alias", "last"), world.worker()
    world.settle(worker, done(world.take_one(run, "target")))
    alias = done(world.take_one(run, "alias"), final=link("target").url)
    note = TrapNote("dates", "/{date}", 10, 10, True, "https://a.example/2026/01/01")
    world.settle(worker, alias._replace(traps=(note,), root="https://b.example/"))
    assert world.states(run)["alias"] == "skipped(duplicate)"
    assert TRAP_STOPPED in world.messages(run)
    assert world.run(run).traps == (note,)
    assert "https://b.example/" in world.run(run).roots
