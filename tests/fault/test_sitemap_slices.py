"""A sitemap that is stored in slices is stored completely, wherever between them the process dies."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tarantella.crashpoints import EXIT_CODE
from tests.fault.commands import driver
from tests.fault.invariants import check, one_value, read_run
from tests.fault.processes import SiteProcess

ADDRESSES, AT_ONCE = 40, 10
POINTS = 10  # before and behind each of four slices, and of what comes after them
SLICES = ("--links-at-once", str(AT_ONCE))


def test_no_address_of_a_sitemap_is_lost_between_two_slices(tmp_path: Path, site: SiteProcess) -> None:
    sitemap = site.url_for(f"/sitemap/list?n={ADDRESSES}")
    wanted = {site.url_for(f"/item/{number}") for number in range(ADDRESSES)}
    cut_short = set()

    def die(at: int) -> None:
        data_dir = tmp_path / f"at-{at}" / "data"
        data_dir.parent.mkdir()
        env = {"TARANTELLA_CRASH_AT": str(at), "TARANTELLA_CRASH_NAME": "settle"}
        with driver(data_dir, "scrape", spec={"sitemaps": [sitemap]}, env=env, options=SLICES) as child:
            assert child.wait() == EXIT_CODE, child.errors
        check(data_dir)
        state = one_value(data_dir, "SELECT state FROM pages WHERE kind = 'sitemap'")
        stored = one_value(data_dir, "SELECT count(*) FROM pages WHERE kind = 'page'")
        if state == "pending" and 0 < stored < ADDRESSES:
            cut_short.add(stored)
        # How many settles there are depends on how quickly pages come: it may have died of its last one.
        # Then there is nothing to go on with, and nobody yet who found out that it is dead.
        if unfinished := read_run(data_dir).status != "completed":
            with driver(data_dir, "resume", "latest", options=SLICES) as child:
                assert child.wait() == 0, child.errors
        check(data_dir, at_rest=unfinished)
        run = read_run(data_dir)
        assert run.status == "completed"
        assert run.done == wanted
        assert run.records.keys() == wanted
        assert run.events.count("Sitemap read") == 1

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(die, range(1, POINTS + 1)))
    assert cut_short == {10, 20, 30}, "the process died between slices, too"
