"""Sitemaps among the pages of a run, and what its trap rules had to say."""

from __future__ import annotations

from tarantella.domain.event import TRAP_STOPPED
from tarantella.domain.outcome import Outcome
from tarantella.domain.page import Page, PageKind, PageState, Skip
from tarantella.domain.run import RunStatus
from tarantella.domain.sitemap import guess_link, sitemap_link
from tarantella.domain.spec import Spec
from tarantella.domain.trap import TrapNote
from tarantella.domain.url import resolve
from tarantella.store import events, pages, run_row
from tests.contract.world import HOST, World, done, failed, link

MAP = sitemap_link(resolve(f"https://{HOST}/sitemap.xml"))


def read(page: Page, *found: object) -> Outcome:
    outcome = Outcome(page, PageState.SKIPPED, reason=Skip.SITEMAP, charged=True)
    return outcome._replace(links=tuple(found))


def note(pattern: str, addresses: int = 10, *, stopped: bool = True, rule: str = "dates") -> TrapNote:
    return TrapNote(rule, pattern, addresses, 10, stopped, "https://a.example/2026/01/01")


def take_sitemap(world: World, run: str) -> Page:
    return next(page for page in world.take(run) if page.kind is not PageKind.PAGE)


def test_a_sitemap_is_a_pending_page_that_keeps_its_run_alive_and_is_no_content(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    [page] = world.take(run)
    world.settle(worker, done(page, MAP))
    assert world.status(run) is RunStatus.RUNNING
    sitemap = take_sitemap(world, run)
    assert (sitemap.kind, sitemap.is_start) == (PageKind.SITEMAP, False)
    world.settle(worker, read(sitemap, link("a")))
    assert world.status(run) is RunStatus.RUNNING
    world.settle(worker, done(world.take_one(run, "a")))
    row = world.run(run)
    assert (row.status, row.sitemaps) == (RunStatus.COMPLETED, 1)
    assert (row.counts.total, row.counts.done, row.counts.skipped, row.records) == (3, 2, 1, 2)
    world.check()


def test_sitemaps_take_no_room_from_the_pages(world: World) -> None:
    run, worker = world.submit("", spec=Spec(max_pages=3)), world.worker()
    [page] = world.take(run)
    maps = [sitemap_link(resolve(f"https://{HOST}/{n}.xml")) for n in range(11)]
    world.settle(worker, done(page, *maps))
    world.settle(worker, read(take_sitemap(world, run), link("a"), link("b"), link("c")))
    assert sorted(state for path, state in world.states(run).items() if ".xml" not in path) == [
        "done",
        "pending",
        "pending",
        "skipped(max_pages)",
    ]
    assert world.run(run).is_full
    assert len([page for page in world.take(run) if page.kind is PageKind.SITEMAP]) == 10
    world.check()


def test_a_sitemap_and_a_page_can_have_the_same_address(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    [page] = world.take(run)
    world.settle(worker, done(page, link("sitemap.xml"), MAP, guess_link(page.url), MAP))
    kinds = sorted(page.kind for page in world.take(run))
    assert kinds == ["page", "sitemap", "sitemap_guess"]


def test_a_run_of_which_only_the_sitemap_could_be_had_has_failed(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    [page] = world.take(run)
    world.settle(worker, failed(page)._replace(links=(MAP,)))
    world.settle(worker, read(take_sitemap(world, run)))
    assert world.status(run) is RunStatus.FAILED


def test_a_sitemap_is_listed_as_such(world: World) -> None:
    run, worker = world.submit(""), world.worker()
    [page] = world.take(run)
    world.settle(worker, done(page, MAP))
    assert [(row["kind"], row["found_on"]) for row in world.read(pages.listed, run_id=run)] == [
        ("page", None),
        ("sitemap", page.id),
    ]


# -- traps


def told(world: World, run: str) -> list[str]:
    history = world.read(events.listed, run_id=run, limit=10_000)
    return [event["meta"]["pattern"] for event in history if event["message"] == TRAP_STOPPED]


def test_a_trap_is_told_of_once_whoever_stopped_it(world: World) -> None:
    run = world.submit(*"abcd")
    for path in "abc":
        page = world.take_one(run, path)
        world.settle(world.worker(), done(page)._replace(traps=(note("x/{date}"), note("y", rule="repeats"))))
    assert told(world, run) == ["x/{date}", "y"]
    assert [found.pattern for found in world.run(run).traps] == ["x/{date}", "y"]


def test_the_largest_count_of_a_pattern_is_kept_and_told_only_when_it_was_stopped(world: World) -> None:
    run, worker = world.submit(*"abcd"), world.worker()
    for path, count in (("a", 4), ("b", 7), ("c", 5)):
        page = world.take_one(run, path)
        world.settle(worker, done(page)._replace(traps=(note("x/{date}", count, stopped=False),)))
    assert world.run(run).traps == (note("x/{date}", 7, stopped=False),)
    assert told(world, run) == []
    world.settle(worker, done(world.take_one(run, "d"))._replace(traps=(note("x/{date}"),)))
    assert told(world, run) == ["x/{date}"]


def test_a_run_remembers_so_many_patterns_and_those_that_were_stopped_first(world: World) -> None:
    run, worker = world.submit(*"ab"), world.worker()
    counted = tuple(note(f"c{n}", 1, stopped=False) for n in range(run_row.MOST_TRAPS + 50))
    world.settle(worker, done(world.take_one(run, "a"))._replace(traps=counted))
    assert len(world.run(run).traps) == run_row.MOST_TRAPS
    stopped = tuple(note(f"s{n}") for n in range(run_row.MOST_TRAPS + 50))
    world.settle(worker, done(world.take_one(run, "b"))._replace(traps=stopped))
    found = world.run(run).traps
    assert len(found) == run_row.MOST_TRAPS == len(told(world, run))
    assert all(each.stopped for each in found)


def test_the_pages_that_a_run_has_can_be_recalled_in_slices(world: World) -> None:
    run, _ = world.submit(*"abcdefg"), world.submit("other")
    found: list[str] = []
    while more := world.read(pages.marks, run_id=run, after=found[-1] if found else "", limit=3):
        found += more
    assert found == sorted(page.fingerprint for page in world.take(run))
