"""Links: only the new ones come through, whatever way they are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from sys import getsizeof

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tarantella.domain.outcome import Link
from tarantella.domain.refused import Refused
from tarantella.domain.scope import Scope, ScopeKind
from tarantella.domain.trap import TrapLimits
from tarantella.domain.trap_counts import Traps
from tarantella.domain.url import MAX_LENGTH, Unfetchable, fingerprint, resolve
from tarantella.extractors.links import LinkFilter
from tarantella.extractors.place import Place
from tarantella.extractors.recent import Recent

HOME = "http://site.test/shop/list?page=1"


def scope(kind: ScopeKind = ScopeKind.HOST, *, root: str = HOME, exclude: Sequence[str] = ()) -> Scope:
    return Scope.of(kind, [resolve(root)], (), exclude)


def links(kind: ScopeKind = ScopeKind.HOST, max_depth: int | None = None) -> LinkFilter:
    return LinkFilter(scope(kind), max_depth)


def found(filter_: LinkFilter, hrefs: Sequence[str], page: str = HOME, base: str | None = None) -> list[str]:
    return [link.url for link in filter_.discover(hrefs, page, base, 1).links]


def test_links_come_out_in_the_order_of_the_page_with_all_that_the_store_needs() -> None:
    discovered = links().discover(["/b", "a", "?page=2"], HOME, None, 4)
    assert list(discovered.links) == [
        Link(url, fingerprint(url), "site.test", 5)
        for url in ("http://site.test/b", "http://site.test/shop/a", "http://site.test/shop/list?page=2")
    ]


def test_a_link_comes_through_once_however_it_is_written() -> None:
    ways = [
        "/a",
        "/a#top",
        "http://site.test/a",
        "../a",
        "/x/../a",
        " /a\n",
        "//site.test/a",
        "/a?utm_source=x",
        "/a/",
    ]
    assert found(links(), ways) == ["http://site.test/a"]


def test_the_same_href_means_another_page_in_another_folder() -> None:
    filter_ = links()
    assert found(filter_, ["next"], "http://site.test/a/") == ["http://site.test/a/next"]
    assert found(filter_, ["next"], "http://site.test/b/") == ["http://site.test/b/next"]
    assert found(filter_, ["next"], "http://site.test/b/2") == []


def test_a_query_alone_belongs_to_the_file_and_not_to_its_folder() -> None:
    filter_ = links()
    assert found(filter_, ["?p=2"], "http://site.test/a") == ["http://site.test/a?p=2"]
    assert found(filter_, ["?p=2"], "http://site.test/b") == ["http://site.test/b?p=2"]
    assert found(filter_, ["?p=2"], "http://site.test/b?p=3") == []


def test_a_page_in_the_root_folder_does_not_shadow_the_queries_of_its_neighbours() -> None:
    filter_ = links()
    assert found(filter_, ["?p=2"], "http://site.test/") == ["http://site.test/?p=2"]
    assert found(filter_, ["?p=2"], "http://site.test/b") == ["http://site.test/b?p=2"]


def test_base_moves_the_links_and_a_base_that_is_no_address_does_not() -> None:
    assert found(links(), ["a"], base="/docs/") == ["http://site.test/docs/a"]
    assert found(links(), ["a"], base="../docs/") == ["http://site.test/docs/a"]
    for nonsense in ("javascript:alert(1)", "http://", "http://[", "x" * 10_000, "data:text/html,x"):
        assert found(links(), ["a"], base=nonsense) == ["http://site.test/shop/a"]


def test_what_is_refused_is_counted_by_reason_with_a_few_samples() -> None:
    outside = [f"https://other.example/{n}" for n in range(10)]
    schemes = ["mailto:a@b.c", "TEL:1", "javascript:void(0)", "data:text/html,x", "ftp://site.test/"]
    hrefs = [*outside, *schemes, "http://[bad", "/" + "x" * 9_000]
    discovered = links().discover(hrefs, HOME, None, 1)
    assert discovered.links == []
    counts = {reason: refused.count for reason, refused in discovered.refused.items()}
    assert counts == {"scope": 10, "scheme": 5, "malformed": 1, "too_long": 1}
    assert discovered.refused["scope"].samples == tuple(hrefs[:3])
    assert all(len(sample) <= 300 for refused in discovered.refused.values() for sample in refused.samples)


def test_samples_show_no_secret() -> None:
    hrefs = ["https://user:hunter2@other.example/?token=t0psecret", "ftp://user:hunter2@site.test/"]
    told = str(links().discover(hrefs, HOME, None, 1).refused)
    assert "hunter2" not in told and "t0psecret" not in told and "other.example" in told


def test_a_refused_link_is_counted_once_and_not_on_every_page() -> None:
    filter_ = links()
    hrefs = ["https://other.example/", "mailto:a@b.c"]
    assert set(filter_.discover(hrefs, HOME, None, 1).refused) == {"scope", "scheme"}
    assert not filter_.discover(hrefs, "http://site.test/else/where", None, 1).refused


def test_fragments_and_empty_hrefs_are_not_links() -> None:
    discovered = links().discover(["", "#", "#top", "  ", "\n#x"], HOME, None, 1)
    assert not discovered.links and not discovered.refused


def test_below_the_depth_limit_nothing_is_found_and_every_href_counts_once() -> None:
    filter_ = links(max_depth=2)
    assert len(filter_.discover(["/a"], HOME, None, 1).links) == 1
    deep = filter_.discover(["/b", "/c", "/b"], HOME, None, 2)
    assert not deep.links and deep.refused["depth"].count == 2


def test_a_link_refused_for_its_depth_is_found_on_a_page_less_deep() -> None:
    filter_ = links(max_depth=2)
    filter_.discover(["/b"], HOME, None, 2)
    assert [link.depth for link in filter_.discover(["/b"], HOME, None, 1).links] == [2]


def test_after_a_rebase_what_was_out_of_scope_is_found() -> None:
    filter_ = links()
    assert found(filter_, ["/a", "https://www.site.test/b"]) == ["http://site.test/a"]
    filter_.rebase(scope(root="https://www.site.test/"))
    assert found(filter_, ["/a", "https://www.site.test/b"]) == ["https://www.site.test/b"]


def test_after_forget_everything_is_found_again() -> None:
    filter_ = links()
    assert found(filter_, ["/a"]) and not found(filter_, ["/a"])
    filter_.forget()
    assert found(filter_, ["/a"]) == ["http://site.test/a"]


def test_pages_that_the_run_has_already_are_not_new() -> None:
    filter_ = links()
    filter_.recall([fingerprint("http://site.test/a")])
    assert found(filter_, ["/a", "/b"]) == ["http://site.test/b"]
    filter_.recall(str(number) for number in range(filter_.room - 2))
    assert found(filter_, ["/shop/../a", "/c"]) == ["http://site.test/c"]


def test_a_trap_is_refused_by_its_rule_and_counted_only_when_it_is_new() -> None:
    filter_ = LinkFilter(scope(), None, traps=Traps(TrapLimits(queries=2), 2026))
    hrefs = ["/x?p=1", "/x?p=2", "/x?p=1#again", "/x?p=3", "/x?p=4", "/y"]
    discovered = filter_.discover(hrefs, HOME, None, 1)
    assert [link.url for link in discovered.links] == [f"http://site.test{path}" for path in ("/x?p=1", "/x?p=2", "/y")]
    assert discovered.refused["trap_queries"].count == 2
    assert [note.pattern for note in discovered.traps if note.stopped] == ["site.test/x"]
    assert filter_.discover(["/x?p=5"], HOME, None, 1).traps == ()


def test_slices_find_what_the_whole_finds() -> None:
    hrefs = [f"/p/{n % 700}" for n in range(1_000)]
    filter_ = links()
    sliced = [url for start in range(0, 1_000, 64) for url in found(filter_, hrefs[start : start + 64])]
    assert sliced == found(links(), hrefs)


@pytest.mark.slow
def test_memory_stays_bounded_on_a_site_without_end() -> None:
    filter_ = LinkFilter(scope(ScopeKind.ANY), None, remembered=1_000, remembered_bytes=1_000_000)
    for number in range(300):
        page = f"http://h{number % 7}.test/{number}/"
        filter_.discover(
            [f"{number}-{n}-{'é' * 500}" for n in range(30)] + [f"/{number}-{n}" for n in range(30)],
            page,
            None,
            1,
        )
    kept = sum(getsizeof(href) for seen in filter_._handled.values() for href in seen)
    assert 50_000 < kept < 1_100_000
    assert len(filter_._fingerprints) <= 1_000


def test_a_memory_that_forgets_keeps_at_least_the_newer_half() -> None:
    recent: Recent[str] = Recent(100)
    for number in range(1_020):
        recent.add(str(number))
        assert len(recent) <= 100
    assert all(str(number) in recent for number in range(970, 1_020))
    assert "0" not in recent


# --- the same as the plain way, for anything ---

BLANKS = ["", " ", "\t", "\n", "\0", "\x1f", "\x7f"]
PIECES = st.sampled_from(
    r"""
    a b.html A ~x .. . ... .x %2e %2E%2e %41 %zz a%20b é ä/ö / // \ : :80 @ ; ' " ( ) [ ] | ^ ` { } < > & = +
    ?a=1 ?b ? ?utm_source=x # #f a:b ?sid=1&b=2
    """.split()
    + BLANKS
)
STARTS = st.sampled_from(
    r"""
    / / // ./ ../ ? # http://site.test http://site.test/ http://site.test:80/ http://site.test:81/
    HTTP://SITE.test/ https://site.test/ http://other.example/ http://user:pw@site.test/ http: https: http:?
    http:/ //other.example/ \\other.example/ mailto: JavaScript: tel: data: ftp://site.test/ http://127.1/
    http://site.test./ http://[::1]/ /./ /%2e%2e/
    """.split()
    + ["", "", "", "ht\ntp:", *BLANKS]
)
HREFS = st.builds(lambda start, rest: start + "".join(rest), STARTS, st.lists(PIECES, max_size=5))
PAGES = st.sampled_from(
    ["/", "/a", "/a/", "/a/b?x=1", "/a/b?x=2", "/a/b/c.html", "/?q", "/a:b", "/%2e/x", "/a;b/c"]
).map(lambda path: resolve("http://site.test" + path).href)
BASES = st.none() | st.sampled_from(
    ["", "/", "/a/", "a/", "?z", "http://site.test/a/", "http://other.example/", "mailto:x", "http:a"]
)
VISITS = st.lists(st.tuples(st.lists(HREFS, max_size=8), PAGES, BASES), min_size=1, max_size=5)


class Plain:
    """What a link filter does, done the slow way."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.known: set[str] = set()

    def discover(self, hrefs: Sequence[str], page: str, base: str | None) -> tuple[list[str], Counter[str]]:
        here = page
        try:
            here = page if base is None else resolve(base, page).href
        except Unfetchable:
            pass
        urls: list[str] = []
        refused: Counter[str] = Counter()
        for href in dict.fromkeys(hrefs):
            reference = href.strip("".join(map(chr, range(33))))
            for removed in "\t\n\r":
                reference = reference.replace(removed, "")
            if not reference or reference[0] == "#":
                continue
            if reference.lower().startswith(("mailto:", "tel:", "javascript:", "data:")):
                refused["scheme"] += 1
                continue
            try:
                url = resolve(reference, here)
            except Unfetchable as refusal:
                refused[refusal.reason] += 1
                continue
            if not self.scope.contains(url):
                refused["scope"] += 1
            elif (mark := fingerprint(url.href)) not in self.known:
                self.known.add(mark)
                urls.append(url.href)
        return urls, refused


@given(VISITS)
@example([(["mailto://<"], "http://site.test/", None)])
@example([(["http:?p"], "http://site.test/a", None), (["http:?p"], "http://site.test/b", None)])
@example([(["ht\ntp:?p"], "http://site.test/a", None), (["ht\ntp:?p"], "http://site.test/b", None)])
def test_it_finds_what_the_plain_way_finds(visits: list[tuple[list[str], str, str | None]]) -> None:
    for kind in (ScopeKind.HOST, ScopeKind.ANY):
        filter_, plain = links(kind), Plain(scope(kind))
        for turn, (hrefs, page, base) in enumerate(visits):
            discovered = filter_.discover(hrefs, page, base, 1)
            urls, refused = plain.discover(hrefs, page, base)
            assert [link.url for link in discovered.links] == urls
            if turn == 0:
                assert {reason: told.count for reason, told in discovered.refused.items()} == dict(refused)


@given(VISITS)
def test_with_hardly_any_memory_nothing_is_missed(visits: list[tuple[list[str], str, str | None]]) -> None:
    tiny, plain = LinkFilter(scope(), None, remembered=2, remembered_bytes=1_500), Plain(scope())
    through: set[str] = set()
    for hrefs, page, base in visits:
        through |= {link.fingerprint for link in tiny.discover(hrefs, page, base, 1).links}
        plain.discover(hrefs, page, base)
    assert through == plain.known


@given(HREFS, PAGES)
def test_the_short_way_to_an_address_leads_where_the_long_way_does(href: str, page: str) -> None:
    reference = href.strip()
    try:
        expected = resolve(reference, page)
    except Unfetchable:
        with pytest.raises(Unfetchable):
            Place(page).resolve(reference)
    else:
        assert Place(page).resolve(reference) == expected


WHOLE = [
    "http://other.example/a/b?c=d#e",
    "http://OTHER.example:80/a",
    "https://other.example:443/a",
    "https://other.example.:8443/a/../b",
    "http://user:secret@other.example/a",
    "http://other.example\\a/b",
    "http://other.example?a/b",
    "http://other.example#a/b",
    "http://[::1]:80/a",
    "http://0x7f.1/a",
    "http:///a",
    "http://",
    "http://a b/c",
    "HTTP://other.example/a",
    f"http://{'x' * 300}/a",
    "http://other.example/%2e%2e/a",
    "http://ex%41mple/a",
]


@pytest.mark.parametrize("page", ["http://here.example/x/y", "https://other.example/"])
@pytest.mark.parametrize("reference", WHOLE)
def test_so_does_the_short_way_to_another_site(reference: str, page: str) -> None:
    try:
        expected = resolve(reference, page)
    except Unfetchable as refusal:
        with pytest.raises(Unfetchable) as caught:
            Place(page).resolve(reference)
        assert caught.value.reason == refusal.reason
    else:
        assert Place(page).resolve(reference) == expected


def test_what_means_the_same_everywhere_is_looked_at_once_and_not_on_every_site() -> None:
    found = links()
    elsewhere = "http://nowhere.example/a"
    first = found.discover([elsewhere], HOME, None, 1)
    second = found.discover([elsewhere], HOME.replace("example", "sample", 1), None, 1)
    assert (sum(each.count for each in first.refused.values()), second.refused) == (1, {})


def test_an_address_longer_than_the_limit_is_never_parsed() -> None:
    discovered = links().discover(["/" + "x" * (MAX_LENGTH * 250)], HOME, None, 1)
    assert discovered.refused["too_long"].count == 1


@pytest.mark.parametrize("more", [0, 1])
def test_an_address_is_too_long_with_all_that_belongs_to_it(more: int) -> None:
    path = "/" + "x" * (MAX_LENGTH - len("http://site.test/") + more)
    discovered = links().discover([path], HOME, None, 1)
    assert (len(discovered.links), list(discovered.refused)) == ((0, ["too_long"]) if more else (1, []))


def test_links_that_are_pages_already_are_not_called_too_deep() -> None:
    filter_ = links(max_depth=2)
    assert found(filter_, ["/a", "/b", "http://site.test/c"]) == [f"http://site.test/{name}" for name in "abc"]
    deep = filter_.discover(["/a", "/b", "http://site.test/c", "/new"], HOME, None, 2)
    assert deep.refused["depth"] == Refused(1, ("/new",))
    assert not filter_.discover(["/a"], HOME, None, 2).refused
