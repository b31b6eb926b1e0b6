"""Cookies are stored with the page that brought them, and read with the pages that come next."""

from __future__ import annotations

import pytest

from tarantella.domain.cookie import Cookie
from tarantella.domain.struct import replace
from tarantella.store import cookies, runs
from tests.contract.world import HOST, NOW, World, done, failed, link

SESSION = Cookie("sid", "1", HOST, set_at=NOW)


def kept(world: World, run: str, host: str = HOST) -> list[Cookie]:
    found: list[Cookie] = world.read(cookies.of_host, run_id=run, host=host)
    return sorted(found, key=lambda cookie: cookie.key)


def bring(world: World, run: str, worker: str, *brought: Cookie) -> None:
    page = world.take(run)[0]
    world.settle(worker, done(page, link(f"{page.id}/next"))._replace(cookies=brought))


def test_a_cookie_comes_back_as_it_was(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    cookie = Cookie("n", "a=b; c", HOST, "/p", secure=True, host_only=False, expires_at=NOW + 5, set_at=NOW)
    bring(world, run, worker, cookie, SESSION)
    assert kept(world, run) == [SESSION, cookie]


def test_what_came_with_a_page_that_was_no_longer_ours_is_dropped(world: World) -> None:
    run, worker = world.submit("", "other"), world.worker()
    page = world.take_one(run, "")
    world.settle(worker, done(page))
    world.settle(worker, failed(page)._replace(cookies=(SESSION,)))
    assert kept(world, run) == []


def test_a_page_that_failed_or_is_a_duplicate_leaves_its_cookies(world: World) -> None:
    run, worker = world.submit("", "same", "bad"), world.worker()
    world.settle(worker, done(world.take_one(run, "")))
    duplicate = done(world.take_one(run, "same"), final=link("").url)
    world.settle(worker, duplicate._replace(cookies=(SESSION,)))
    world.settle(worker, failed(world.take_one(run, "bad"))._replace(cookies=(replace(SESSION, name="c"),)))
    assert [cookie.name for cookie in kept(world, run)] == ["c", "sid"]


def test_runs_share_nothing(world: World) -> None:
    run, other, worker = world.submit(""), world.submit(""), world.worker()
    bring(world, run, worker, SESSION)
    assert kept(world, other) == []


def test_a_host_sees_its_own_and_those_of_the_domains_above_it(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    shared = Cookie("shared", "1", "example", host_only=False, set_at=NOW)
    bring(world, run, worker, SESSION, shared, replace(shared, name="alone", host_only=True))
    assert kept(world, run) == [SESSION, shared]
    assert kept(world, run, "b.example") == [shared]
    assert kept(world, run, "other.test") == []


def test_the_newest_counts_in_whatever_order_they_arrive(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    newest = replace(SESSION, value="3", set_at=NOW + 3)
    bring(world, run, worker, newest, replace(SESSION, value="2", set_at=NOW + 2))
    bring(world, run, worker, SESSION)
    assert kept(world, run) == [newest]


def test_a_settle_that_is_sent_twice_stores_the_same(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    outcome = done(world.take(run)[0], link("a"))._replace(cookies=(SESSION,))
    world.settle(worker, outcome)
    world.settle(worker, outcome)
    assert kept(world, run) == [SESSION]


def test_a_run_keeps_only_its_newest_few_thousand(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cookies, "MAX_PER_RUN", 10)
    run, other, worker = world.submit(""), world.submit(""), world.worker()
    bring(world, other, worker, SESSION)
    for number in range(6):
        bring(world, run, worker, *(replace(SESSION, name=f"{number}{i}", set_at=NOW + number) for i in range(4)))
    assert [cookie.name for cookie in kept(world, run)] == ["32", "33", "40", "41", "42", "43", "50", "51", "52", "53"]
    assert kept(world, other) == [SESSION]


def test_a_run_that_is_deleted_takes_its_cookies_with_it(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    world.settle(worker, done(world.take(run)[0])._replace(cookies=(SESSION,)))
    while not world.write(runs.delete_some, run_id=run):
        pass
    assert kept(world, run) == []
