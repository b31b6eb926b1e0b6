"""What looks endless is stopped and told of; what big sites really have is not."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from datetime import date, timedelta
from itertools import islice, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarantella.domain.errors import InvalidInput
from tarantella.domain.struct import asdict
from tarantella.domain.trap import EARLIEST_YEAR, YEARS_AHEAD, TrapLimits, TrapNote, TrapRule, dated, shape_trap
from tarantella.domain.trap_counts import ADDRESSES_PER_VALUE, PATTERNS, STOPPED, Traps
from tarantella.domain.url import resolve

YEAR = 2026
NO_LIMIT = TrapLimits.none()
SITE = "https://site.test"


def traps(limits: TrapLimits = TrapLimits(), known: Iterable[TrapNote] = ()) -> Traps:
    return Traps(limits, YEAR, known)


def through(rules: Traps, paths: Iterable[str]) -> int:
    """How many of these links the rules let through."""
    return sum(rules.refuses(resolve(SITE + path)) is None for path in paths)


def days(first: date, number: int) -> Iterable[str]:
    return (f"/{first + timedelta(days=n):%Y/%m/%d}" for n in range(number))


# --- by the looks of an address ---


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/a/a/a", None),
        ("/a/a/a/a", "repeats"),
        ("/a/b/a/b/a/b", None),
        ("/a/b/a/b/a/b/a/b", "repeats"),
        ("/x/a/y/a/z/a/w/a", "repeats"),
        ("/a/a/a/?a/a/a/a", None),
        ("/" + "/".join(map(str, range(20))), None),
        ("/" + "/".join(map(str, range(20))) + "/", None),
        ("/" + "/".join(map(str, range(21))), "folders"),
        ("/" + "x" * 1_900, None),
        ("/?" + "x" * 2_000, "length"),
        ("", None),
    ],
)
def test_repeated_folders_deep_paths_and_long_addresses_are_traps(path: str, rule: str | None) -> None:
    assert shape_trap(resolve(SITE + path).href, TrapLimits()) == rule


@given(st.lists(st.sampled_from("abcdef"), max_size=25), st.integers(1, 6))
def test_a_path_repeats_itself_exactly_when_one_folder_is_in_it_too_often(folders: list[str], most: int) -> None:
    found = shape_trap(f"{SITE}/{'/'.join(folders)}", TrapLimits(folders=None, repeats=most))
    assert (found is TrapRule.REPEATS) == any(folders.count(folder) > most for folder in folders)


@given(st.text(max_size=80))
def test_no_address_makes_the_rules_raise_and_without_limits_none_is_a_trap(text: str) -> None:
    try:
        url = resolve(text, SITE)
    except InvalidInput:
        return
    dated(url.href)
    traps().refuses(url)
    traps().stopped_by(url)
    assert traps(NO_LIMIT).refuses(url) is None


# --- calendars ---


@pytest.mark.parametrize(
    ("path", "pattern", "sure"),
    [
        ("/2026/11/16", "/{date}", True),
        ("/news/2026-11-16/", "/news/{date}", True),
        ("/2026/11", "/{date}", False),
        ("/events/2026/11/", "/events/{date}", True),
        ("/parts/2093-11", "/parts/{date}", False),
        ("/cal?month=2026-11", "/cal?month={date}", True),
        ("/cal?view=week&date=20261116", "/cal?view=week&date={date}", True),
        ("/x?year=2026&month=11&view=list", "/x?year={date}&month={date}&view=list", True),
        ("/x?tribe[year]=2026&tribe[month]=3", "/x?tribe[year]={date}&tribe[month]={date}", True),
        ("/x?from=2026-11-16T00:00", "/x?from={date}", True),
        ("/x?sku=1076-10", "/x?sku={date}", False),
        ("/cal?date=2026-11-16&token=s3cret", "/cal?date={date}&token=***", True),
    ],
)
def test_a_date_is_found_where_calendars_have_it(path: str, pattern: str, sure: bool) -> None:
    found = dated(resolve(SITE + path).href)
    assert found is not None
    assert (found.pattern, found.sure) == (f"site.test{pattern}", sure)


@pytest.mark.parametrize(
    "path",
    [
        "/2026/11/16/a-story",
        "/item/2026",
        "/wine?year=2019",
        "/x?id=20261116",
        "/x?page=12",
        "/2026/13",
        "/x/99",
        "/",
        "/x?month=11",
        "/2026-11-16-a-concert",
    ],
)
def test_numbers_that_are_no_dates_and_stories_of_a_day_are_left_alone(path: str) -> None:
    assert dated(resolve(SITE + path).href) is None


def test_a_calendar_is_stopped_in_years_that_make_no_sense() -> None:
    rules = traps()
    assert through(rules, ["/calendar/1900/01", "/calendar/2036/12", "/calendar/2026-11-16"]) == 3
    assert through(rules, ["/calendar/1899/12", "/calendar/2037/01", "/calendar/9999-12-31"]) == 0
    [note] = rules.news()
    assert (note.rule, note.pattern, note.stopped) == ("dates", "site.test/calendar/{date} not in 1900–2036", True)
    assert note.let_through_by == "dates=off"
    assert through(rules, ["/calendar/2030/01"]) == 1, "the sensible years are still let through"


def test_what_may_be_no_date_is_not_refused_for_its_year() -> None:
    assert through(traps(), ["/parts/2093-11", "/forum/1234/12", "/x?sku=1076-10"]) == 3


def test_a_calendar_is_stopped_after_so_many_days_and_other_places_go_on() -> None:
    rules = traps(TrapLimits(dates=100))
    assert through(rules, (f"/calendar{day}" for day in days(date(2020, 1, 1), 500))) == 100
    assert through(rules, (f"/diary{day}" for day in days(date(2020, 1, 1), 50))) == 50
    assert through(rules, [f"/2020/01/{n:02}/story-{n}" for n in range(1, 31)] * 10) == 300
    assert [note.pattern for note in rules.news() if note.stopped] == ["site.test/calendar/{date}"]


# --- queries ---


def facets(*sizes: int) -> Iterable[str]:
    for values in product(*map(range, sizes)):
        yield "/shop?" + "&".join(f"f{name}={value}" for name, value in enumerate(values))


def test_combinations_of_a_few_values_are_stopped_after_a_thousand() -> None:
    rules = traps()
    assert through(rules, facets(12, 12, 12, 12)) == 1_000
    [note] = [note for note in rules.news() if note.stopped]
    assert (note.rule, note.pattern, note.addresses) == ("combinations", "site.test/shop", 1_000)
    assert through(rules, ["/shop", "/shop?page=7", "/shop/a", "/books?f0=1&f1=2"]) == 4


def test_where_filters_were_stopped_the_pages_of_one_list_go_on() -> None:
    rules = traps()
    assert through(rules, facets(12, 12, 12, 12)) == 1_000
    assert through(rules, (f"/shop?page={page}&f0=1" for page in range(2, 500))) == 498
    assert through(rules, (f"/shop?f0=1&page={page}&f1=1" for page in range(2, 500))) == 0
    assert rules.stopped_by(resolve("http://site.test/shop?f0=1&page=3")) is None


def test_facets_with_many_values_get_twenty_addresses_for_each_of_them() -> None:
    # The values are only roughly counted.
    assert 1_700 <= through(traps(), islice(facets(100, 100, 100), 10_000)) <= 2_400


BIG_SITES = {
    "pagination": (f"/list?page={n}" for n in range(1, 5_001)),
    "ids in one path": (f"/index.php?option=article&id={n}" for n in range(30_000)),
    "a forum": (f"/viewtopic.php?f={t % 30}&t={t}&start={p * 20}" for t in range(6_000) for p in range(5)),
    "an archive": (f"{day}/story-{n}" for day in days(date(1998, 1, 1), 10_000) for n in range(3)),
    "its days": days(date(2013, 3, 1), 5_000),
    "a shop within reason": facets(10, 10, 10),
    "a shop with many pages a category": (f"/shop?cat={c}&page={p}" for c in range(300) for p in range(40)),
    "its lists in steps": (f"/shop?start={20 * p}&cat={c}" for c in range(60) for p in range(80)),
    "search": (f"/search?q=word-{n}&sort={s}" for n in range(5_000) for s in ("a", "b")),
    "a wiki": (f"/w/index.php?title=Page_{n}&action={a}" for n in range(3_000) for a in ("view", "history", "info")),
    "years of monthly pages": (f"/archive/{year}/{month:02}" for year in range(1950, 2027) for month in range(1, 13)),
    "tiles": (f"/tiles/{z}/{x}/{y}" for z in range(3) for x in range(3) for y in range(3)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BIG_SITES)
def test_what_big_sites_have_is_let_through(name: str) -> None:
    paths = list(BIG_SITES[name])
    assert through(traps(), paths) == len(paths)


def test_one_path_with_more_queries_than_any_site_has_is_stopped() -> None:
    rules = traps(TrapLimits(queries=50))
    assert through(rules, (f"/list?page={n}" for n in range(200))) == 50
    assert through(rules, (f"/other?page={n}" for n in range(50))) == 50
    assert [note.pattern for note in rules.news() if note.stopped] == ["site.test/list"]


# --- what is kept ---


def test_a_pattern_is_told_of_once() -> None:
    rules = traps(TrapLimits(dates=5, repeats=2))
    through(rules, (f"/calendar{day}" for day in days(date(2020, 1, 1), 50)))
    through(rules, ["/a/a/a", "/b/b/b", "/c/c/c"])
    through(rules, ["/d/d/d"])
    stopped = [note.key for note in rules.news() if note.stopped]
    assert stopped == ["dates site.test/calendar/{date}", "repeats site.test"]
    assert rules.news() == ()


def test_a_resumed_run_lets_through_at_most_a_tenth_more() -> None:
    limits = TrapLimits(dates=1_000, combinations=1_000, queries=10_000)
    calendar = [f"/calendar{day}" for day in days(date(2015, 1, 1), 4_000)]
    shop = list(facets(10, 10, 10, 10))
    known: dict[str, TrapNote] = {}
    passed_dates = passed_shop = 0
    for turn in range(8):
        rules = traps(limits, known.values())
        passed_dates += through(rules, calendar[turn * 300 : turn * 300 + 300])
        passed_shop += through(rules, shop[turn * 350 : turn * 350 + 350])
        known |= {note.key: note for note in rules.news()}
    assert 1_000 <= passed_dates <= 1_000 + 8 * 100
    assert 1_000 <= passed_shop <= 1_000 + 8 * 100
    assert {note.rule for note in known.values() if note.stopped} == {"dates", "combinations"}
    assert through(traps(limits, known.values()), [*calendar, *shop[:500]]) == 0


def test_what_a_run_stopped_can_be_explained_later() -> None:
    rules = traps(TrapLimits(dates=3, queries=2, combinations=1))
    through(rules, [f"/calendar{day}" for day in days(date(2020, 1, 1), 9)] + [f"/list?p={n}" for n in range(9)])
    later = traps(TrapLimits(dates=3, queries=2, combinations=1), [n for n in rules.news() if n.stopped])

    def explained(path: str) -> str | None:
        note = later.stopped_by(resolve(SITE + path))
        return note.in_words if note is not None else None

    assert explained("/calendar/2026/01/01") == "more than 3 dates at one place, as calendars have them"
    assert explained("/calendar/2099/01/01") == "years without end"
    assert explained("/list?p=77") == "more than 2 queries of one path"
    assert explained("/a/a/a/a") == "more than 3 times one folder in a path"
    assert explained("/list") is None and explained("/other?p=1") is None


@pytest.mark.slow
def test_memory_and_notes_stay_bounded_on_a_site_that_makes_up_patterns() -> None:
    rules = traps(TrapLimits(dates=1, queries=1))
    for number in range(PATTERNS + 100):
        place = f"/{number}-{'x' * 500}"
        through(rules, [f"{place}/2020/01/01", f"{place}?a={number}&b=1"])
    assert len(rules._counts) <= PATTERNS
    assert len(rules._stopped) <= STOPPED
    assert all(len(note.pattern) <= 220 and len(note.sample) <= 300 for note in rules.news())


def test_samples_and_patterns_show_no_secret() -> None:
    rules = traps(TrapLimits(dates=1, queries=1))
    through(rules, [f"/cal?date=2026-11-{n:02}&token=s3cret" for n in range(1, 9)])
    through(rules, [f"/x?token=s3cret{n}" for n in range(9)])
    told = str(rules.news())
    assert "token=***" in told and "s3cret" not in told


def test_a_new_link_costs_microseconds() -> None:
    rules = traps()
    urls = [resolve(f"{SITE}/section/{n % 40}/article-{n}.html") for n in range(20_000)]
    began = time.process_time()
    for url in urls:
        rules.refuses(url)
    assert (time.process_time() - began) / len(urls) < 20e-6


# --- limits ---


def test_the_documented_limits_are_the_default_ones() -> None:
    text = (Path(__file__).parents[2] / "docs" / "scope.md").read_text()
    told = {name: int(limit.replace(",", "")) for name, limit in re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", text, re.M)}
    assert told == asdict(TrapLimits())
    assert f"years before {EARLIEST_YEAR} or more than {YEARS_AHEAD} ahead" in text
    assert f"more than {ADDRESSES_PER_VALUE} for each value" in text
    assert f"{PATTERNS:,} patterns at a time" in text


def test_a_limit_is_changed_by_its_name() -> None:
    changed = TrapLimits().with_limit("dates=7").with_limit(" Queries = off ")
    assert (changed.dates, changed.queries, changed.repeats) == (7, None, 3)
    assert str(changed) == "length=2000, folders=20, repeats=3, dates=7, combinations=1000, queries=off"
    assert {rule.value for rule in TrapRule} == set(TrapLimits.__struct_fields__)


@pytest.mark.parametrize("text", ["", "dates", "dates=", "dates=-1", "dates=0", "dates=x", "days=5", "dates=1e3", "=5"])
def test_a_limit_that_makes_no_sense_is_refused_with_the_names_that_there_are(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        TrapLimits().with_limit(text)
    assert caught.value.field == "trap_limit"
    assert caught.value.remedy


@pytest.mark.parametrize("digits", [10, 20, 5_000])
def test_a_limit_of_any_length_is_refused_in_few_words(digits: int) -> None:
    with pytest.raises(InvalidInput, match="not between 1 and 1000000000") as typed:
        TrapLimits().with_limit(f"dates={'9' * digits}")
    with pytest.raises(InvalidInput, match="not between 1 and 1000000000") as given:
        TrapLimits(dates=10**digits)
    assert len(str(typed.value)) < 200 and len(str(given.value)) < 200
    assert TrapLimits().with_limit(f"dates={'0' * digits}7").dates == 7
