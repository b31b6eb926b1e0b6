"""The benchmarks measure what they say: their sites, their checks, their ratios."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import comparison
from benchmarks.__main__ import main
from benchmarks.contestants.registry import CONTESTANTS
from benchmarks.contract import Table, Wish
from benchmarks.registry import BENCHMARKS
from benchmarks.report import _table
from benchmarks.rig.arrivals import Arrivals
from benchmarks.rig.measure import Measurement, complaint_about_output
from benchmarks.rig.site import Served, Shape, Site, links_of, prepare


def served(tmp_path: Path, pages: int = 3, hosts: int = 1) -> Served:
    return Served(Site(Shape(pages, hosts, port=8000), tmp_path), 8000)


def write(path: Path, *records: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def measured(name: str, round_number: int, wall: float, complaint: str | None = None) -> Measurement:
    return Measurement(name, round_number, 100, wall, 2 * wall, 1_000_000, 2_000_000, complaint)


@pytest.mark.parametrize(("pages", "hosts"), [(1, 1), (50, 1), (60, 3), (61, 8)])
def test_every_page_of_a_host_can_be_reached_without_leaving_the_host(pages: int, hosts: int) -> None:
    shape = Shape(pages, hosts, port=8000)
    reached, todo = set(range(hosts)), list(range(hosts))
    while todo:
        page = todo.pop()
        # The other links would lead everywhere too, by chance and at this size.
        children = {link for link in links_of(page, shape)[-2:] if shape.host_of(link) == shape.host_of(page)}
        todo.extend(children - reached)
        reached |= children
    assert reached == set(range(pages))


def test_hosts_link_to_one_another_by_whole_addresses(tmp_path: Path) -> None:
    site = prepare(Shape(40, 4, port=8000), tmp_path)
    page = (site.root / "p" / "0.html").read_text()
    assert 'href="http://127.0.0.2:8000/p/1.html"' in page
    assert "http://127.0.0.1:" not in page


def test_a_site_is_generated_again_only_when_it_would_differ(tmp_path: Path) -> None:
    page = prepare(Shape(2), tmp_path).root / "p" / "0.html"
    page.write_text("kept")
    assert (prepare(Shape(2), tmp_path).root / "p" / "0.html").read_text() == "kept"
    assert (prepare(Shape(2, seed=2), tmp_path).root / "p" / "0.html").read_text() != "kept"


def test_a_complete_output_gives_no_reason_to_complain_wherever_its_parts_are(tmp_path: Path) -> None:
    site = served(tmp_path)
    first, *others = [{"url": url, "title": title} for url, title in site.titles().items()]
    parts = [write(tmp_path / "1.jsonl", first), write(tmp_path / "2.jsonl", *others)]
    assert complaint_about_output(parts, site) is None


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda records: records[1:], "1 missing"),
        (lambda records: [*records, records[0]], "1 repeated"),
        (lambda records: [*records, {"url": "http://127.0.0.1:8000/other", "title": "?"}], "1 not of the site"),
        (lambda records: [{**records[0], "title": None}, *records[1:]], "1 with a wrong title"),
    ],
)
def test_a_crawl_that_forgot_or_doubled_a_page_does_not_count(tmp_path: Path, change: object, complaint: str) -> None:
    site = served(tmp_path)
    records = [{"url": url, "title": title} for url, title in site.titles().items()]
    assert callable(change)
    assert complaint in str(complaint_about_output([write(tmp_path / "1.jsonl", *change(records))], site))


def test_ratios_pair_the_runs_of_one_round_and_leave_out_what_was_not_complete() -> None:
    runs = [
        *(measured("bare-loop", number, wall) for number, wall in enumerate((1.0, 2.0, 4.0), 1)),
        measured("tarantella", 1, 2.0),
        measured("tarantella", 2, 8.0),
        measured("tarantella", 3, 1.0, "left pages out"),
    ]
    assert comparison.median_ratio("tarantella", "bare-loop", runs) == (0.5 + 0.25) / 2
    standing = comparison.standing("tarantella", runs)
    assert standing is not None
    assert standing.rows == [["bare-loop", "0.38", "0.50 0.25", "3.0"]]
    assert comparison.complaints(runs) == ["tarantella, round 3: left pages out"]


def test_a_wish_says_on_which_side_of_its_limit_it_wants_to_be() -> None:
    assert Wish("memory", 149, 150).met
    assert not Wish("memory", 151, 150).met
    assert Wish("speed", 0.6, 0.5, at_most=False).met
    assert not Wish("speed", 0.4, 0.5, at_most=False).met


def test_a_table_is_straight_in_a_terminal() -> None:
    lines = _table(Table(("who", "pages/s"), [["bare-loop", "5"], ["t", "1,000"]])).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1].endswith(":|") or lines[1].endswith(": |")


def test_arrivals_wait_for_the_end_of_a_line(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text("1.000 /before\n")
    arrivals = Arrivals(log)
    log.write_text("1.000 /before\n2.500 /robots.txt\n3.250 /p/")
    assert [(one.at, one.path, one.is_page) for one in arrivals.new()] == [(2.5, "/robots.txt", False)]
    log.write_text("1.000 /before\n2.500 /robots.txt\n3.250 /p/0.html\n")
    assert [(one.at, one.path, one.is_page) for one in arrivals.new()] == [(3.25, "/p/0.html", True)]


def test_list_names_all_that_can_be_run(capsys: pytest.CaptureFixture[str]) -> None:
    main(["list"])
    told = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert sorted(told) == sorted([one.name for one in BENCHMARKS] + [one.name for one in CONTESTANTS])
    assert len(set(told)) == len(told)
