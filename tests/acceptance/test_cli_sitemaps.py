"""`tarantella scrape --sitemap` and its trap rules, as a user meets them."""

from __future__ import annotations

from tests.acceptance.command import LOOPBACK, Shell


def test_a_sitemap_alone_is_enough_to_start_from(shell: Shell, site: str) -> None:
    done = shell.run("scrape", "--sitemap", f"{site}/sitemap/list?n=5&gz=1", *LOOPBACK)
    assert done.code == 0
    assert "6 = 5 done + 0 failed + 1 skipped" in done.err
    assert "it is a sitemap, and only read for its addresses (sitemap)" in done.err
    assert "5 records" in done.err


def test_auto_reads_what_the_site_has_and_says_so_in_its_history(shell: Shell, site: str) -> None:
    done = shell.run("scrape", f"{site}/ok", "--sitemap", "auto", "--json", *LOOPBACK)
    assert (done.code, done.json["counts"]["done"], done.json["sitemaps"]) == (0, 1, 1)
    assert "1  no sitemap is named in robots.txt, and none is here (no_sitemap)" in done.err
    assert f"{site}/sitemap.xml" in done.err
    events = shell.run("runs", "events", "latest").out
    assert "No sitemap found" in events


def test_several_sitemaps_are_read_and_a_page_tells_which_one_it_is_from(shell: Shell, site: str) -> None:
    maps = ("--sitemap", f"{site}/sitemap/list?n=2", "--sitemap", f"{site}/sitemap/list?from=7&n=2")
    done = shell.run("scrape", f"{site}/ok", *maps, "--json", *LOOPBACK)
    assert (done.code, done.json["counts"]["done"]) == (0, 5)
    story = shell.run("runs", "explain", "latest", f"{site}/item/8")
    assert f"It was found in the sitemap {site}/sitemap/list?from=7&n=2 (depth 1)." in story.out
    [read, *_] = [line for line in shell.run("runs", "events", "latest").out.splitlines() if "Sitemap read" in line]
    assert "found=2, admitted=2" in read


def test_a_sitemap_that_is_none_makes_the_run_partial(shell: Shell, site: str) -> None:
    done = shell.run("scrape", f"{site}/ok", "--sitemap", f"{site}/sitemap/html", *LOOPBACK)
    assert done.code == 3
    assert "not a sitemap" in done.err


def test_a_trap_is_told_with_what_would_let_it_through(shell: Shell, site: str) -> None:
    limits = ("--depth", "all", "--trap-limit", "dates=15")
    done = shell.run("scrape", f"{site}/days/2026/11/16", *limits, *LOOPBACK)
    host = site.removeprefix("http://")
    assert done.code == 0
    assert "links not followed: 2 in a trap (dates)" in done.err
    told = f"trap: {host}/days/{{date}}: more than 15 dates at one place, as calendars have them"
    assert told in " ".join(done.err.split())
    assert "--trap-limit dates=N" in done.err
    shown = shell.run("runs", "show", "latest").out
    assert "trap limits" in shown and "dates=15" in shown
    explained = shell.run("runs", "explain", "latest", f"{site}/days/2020/01/01")
    assert explained.code == 2
    assert "taken for a trap" in explained.err


def test_without_traps_nothing_is_taken_for_one(shell: Shell, site: str) -> None:
    options = ("--depth", "all", "--max-pages", "30", "--no-traps", "--json")
    done = shell.run("scrape", f"{site}/deeper/", *options, *LOOPBACK)
    assert (done.json["counts"]["done"], done.json["traps"]) == (30, [])


def test_nonsense_is_refused_with_what_would_be_right(shell: Shell, site: str) -> None:
    for options, said in (
        (("--sitemap", "auto"), "There is no address to start from."),
        ((f"{site}/ok", "--sitemap", "ftp://example.com/x"), "auto"),
        ((f"{site}/ok", "--trap-limit", "dats=5"), "length, folders, repeats, dates, combinations, queries"),
        ((f"{site}/ok", "--trap-limit", "dates=many"), "NAME=off"),
    ):
        done = shell.run("scrape", *options)
        assert (done.code, done.out) == (2, "")
        assert said in " ".join(done.err.split())
