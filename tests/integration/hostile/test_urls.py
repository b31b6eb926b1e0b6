"""Addresses made to mislead, as a user types them and as a page links to them: rows 1 to 5 of docs/hostile-input.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tarantella.cli.app import app as command_line
from tarantella.domain.errors import InvalidInput
from tarantella.domain.trap import TrapLimits
from tarantella.exporters import EXPORTERS as FORMATS
from tarantella.fetchers.dns import Dns
from tarantella.fetchers.guard import Guard
from tarantella.services import runs
from tarantella.services.app import App
from tarantella.services.submit import submit
from tests.fault.processes import SiteProcess
from tests.integration.crawling import asked, awaited, crawl, guarded, hits, spec_of
from tests.site import Call, Reply, Site
from tests.site.links import ODD_HREFS, PASSWORD
from tests.site.reply import page, page_with_links


async def refusal(app: App, text: str) -> InvalidInput:
    """Why a run that starts here is not taken in; nothing of it may be left."""
    with pytest.raises(InvalidInput) as caught:
        await submit(app, spec_of(), [text])
    assert await runs.listed(app) == []
    return caught.value


# -- rows 1 and 2: what is no address, and what nobody should fetch


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "   ",
        "\t\r\n",
        "\0",
        "http://example.com/\0",
        "http://exam\0ple.com/",
        "http://example.com/\r\nHost: evil",
        "http://example.com/\nX: y",
        "http://exa\tmple.com/",
        "http://example.com/" + "x" * 2_000_000,
        "http://example.com/" + "é" * 4_000,
        "x" * 2_000_000,
    ],
    ids=lambda typed: repr(typed[:40]),
)
@awaited
async def test_what_is_no_address_is_refused_before_a_run_exists(app: App, typed: str) -> None:
    error = await refusal(app, typed)
    assert (error.code, error.field) == ("invalid_url", "url")
    assert len(str(error)) < 400
    assert str(error).isprintable()


@pytest.mark.parametrize(
    "scheme", ["file", "data", "javascript", "gopher", "ftp", "ws", "blob", "about", "view-source"]
)
@pytest.mark.parametrize("spelling", [str.lower, str.upper, str.title], ids=["lower", "upper", "mixed"])
@awaited
async def test_another_scheme_is_refused_in_any_case(app: App, scheme: str, spelling: Callable[[str], str]) -> None:
    assert "http or https" in str(await refusal(app, f"{spelling(scheme)}:///etc/passwd"))


@pytest.mark.parametrize("reason", [reason for reason in ODD_HREFS if reason])
@awaited
async def test_odd_links_are_counted_by_their_reason_and_nothing_is_asked_for(app: App, reason: str) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, f"/odd-links/{reason}", depth=2, scope="any")
    assert {why: refused["count"] for why, refused in crawled.run.refused.items()} == {reason: len(ODD_HREFS[reason])}
    assert asked(site) == [f"/odd-links/{reason}"]
    assert crawled.status == "completed"
    samples = crawled.run.refused[reason]["samples"]
    assert 0 < len(samples) <= 3
    assert all(len(sample) <= 300 for sample in samples)


@awaited
async def test_links_to_nowhere_are_not_even_counted(app: App) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, "/odd-links/", depth=2, scope="any")
    assert crawled.run.refused == {}
    assert crawled.run.counts.total == len(asked(site)) == 1


@awaited
async def test_control_characters_inside_a_link_are_dropped_as_browsers_do(app: App) -> None:
    async with Site() as site:

        async def broken(_call: Call) -> Reply:
            return Reply(200, b'<a href="/item/\r\n1">x</a><a href=" \x01/item/2\t">y</a><a href="/item/\x003">z</a>')

        site.routes["/broken"] = broken
        await crawl(app, site, "/broken", depth=2)
    # The markup's own rules turn NUL into a replacement character.
    assert sorted(asked(site)[1:]) == ["/item/%EF%BF%BD3", "/item/1", "/item/2"]


@awaited
async def test_an_address_does_not_grow_for_ever_by_relative_links(app: App) -> None:
    """Each page links to one below it: the addresses get longer until they are too long."""

    async def below(call: Call) -> Reply:
        return page_with_links("Deeper", ["x" * 2_000 + "/"])

    async with Site() as site:
        site.routes["/below/"] = below
        crawled = await crawl(app, site, "/below/", depth=None, traps=TrapLimits.none())
    assert crawled.status == "completed"
    assert crawled.run.counts.total == 5
    assert crawled.run.refused["too_long"]["count"] == 1


# -- row 3: what looks like another host, and what must not be told


@pytest.mark.parametrize(
    ("typed", "dialled"),
    [
        ("http://127.0.0.1:{port}\\@127.0.0.2/", "127.0.0.1"),
        ("http:\\\\127.0.0.1:{port}\\item\\1", "127.0.0.1"),
        ("http:/127.0.0.1:{port}/", "127.0.0.1"),
        ("http:127.0.0.1:{port}/", "127.0.0.1"),
        ("http:////127.0.0.1:{port}/", "127.0.0.1"),
        ("HTTP://127.0.0.1:{port}/#@127.0.0.2/", "127.0.0.1"),
        ("http://127.0.0.1:{port}?@127.0.0.2/", "127.0.0.1"),
        ("http://127.0.0.1:0{port}/", "127.0.0.1"),
        ("http://127.0.0.1.:{port}/", "127.0.0.1"),
        ("http://%31%32%37.0.0.1:{port}/", "127.0.0.1"),
        ("http://127.0.0.1%2e:{port}/", "127.0.0.1"),
        ("http://１２７。０。０。１:{port}/", "127.0.0.1"),
        ("http://SHOP.test:{port}/", "shop.test"),
        ("http://shop%2Etest:{port}/", "shop.test"),
        ("http://bücher.test:{port}/", "xn--bcher-kva.test"),
        ("http://BÜCHER.test:{port}/", "xn--bcher-kva.test"),
        ("http://xn--bcher-kva.test:{port}/", "xn--bcher-kva.test"),
        ("http://ｓｈｏｐ.test:{port}/", "shop.test"),
    ],
)
@awaited
async def test_a_tricky_address_is_dialled_where_a_browser_would(app: App, typed: str, dialled: str) -> None:
    async with Site() as site:
        site.routes = {"/robots.txt": site.routes["/robots.txt"], "/": site.routes["/ok"]}
        guard = Guard(dns=Dns(lambda _host: ["127.0.0.1"]))
        await crawl(guarded(app, guard), site, typed.replace("{port}", str(site.port)))
    assert {hit.hostname for hit in site.hits} == {dialled}


@pytest.mark.parametrize("port", ["0", "1", "65535"])
@awaited
async def test_a_port_where_nobody_is_is_a_network_failure(app: App, port: str) -> None:
    async with Site() as site:
        crawled = await crawl(app, site, f"http://127.0.0.1:{port}/", attempts=1, obey_robots=False)
    assert list(crawled.states.values()) == ["failed(network)"]


@pytest.mark.parametrize("port", ["65536", "99999", "-1", "80a", "８０８０８"])
@awaited
async def test_a_port_that_can_not_be_is_refused(app: App, port: str) -> None:
    assert (await refusal(app, f"http://127.0.0.1:{port}/")).code == "invalid_url"


@pytest.mark.parametrize(
    "typed",
    [
        f"http://me:{PASSWORD}@127.0.0.1/",
        f"http://{PASSWORD}@127.0.0.1/",
        f"http://:{PASSWORD}@127.0.0.1/",
        f"http://me:{PASSWORD}@x@127.0.0.1/",
        f"http://me:{PASSWORD}%40x@127.0.0.1/",
        f"http:\\\\me:{PASSWORD}@127.0.0.1\\",
        f"http:me:{PASSWORD}@127.0.0.1/",
        f"me:{PASSWORD}@127.0.0.1/",
        f"ftp://me:{PASSWORD}@127.0.0.1/",
        f"http://me:{PASSWORD}@exa mple.com/",
    ],
)
@awaited
async def test_an_address_with_a_password_is_refused_and_the_password_not_repeated(app: App, typed: str) -> None:
    assert PASSWORD not in str(await refusal(app, typed))


def test_a_password_in_a_link_or_a_redirect_appears_in_no_output(far_site: SiteProcess, tmp_path: Path) -> None:
    """Every command, every format, the log, and the database itself."""
    told: list[str] = []

    def command(*arguments: str) -> None:
        done = CliRunner().invoke(command_line, [*arguments, "--data-dir", str(tmp_path / "data")])
        assert "Traceback" not in done.output
        told.append(done.output)

    reach = ("--depth", "2", "--scope", "any", "--exclude", "*example.com*", "--allow-network", "127.0.0.0/8")
    log = ("-vv", "--log-file", str(tmp_path / "log"))
    command("scrape", far_site.url_for("/password/links"), *reach, "--attempts", "1", *log)
    for subject in ("show", "pages", "events"):
        command("runs", subject, "latest")
        command("runs", subject, "latest", "--json")
    for name in ("page", "go", "fails"):
        command("runs", "explain", "latest", far_site.url_for(f"/password/{name}"))
    command("runs", "list")
    for form in FORMATS:
        command("export", "latest", "--format", form, "--output", str(tmp_path / f"out.{form}"))

    assert {hit["path"] for hit in far_site.log()["hits"]} >= {f"/password/{name}" for name in ("page", "go", "fails")}
    written = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {"log", "tarantella.db", *(f"out.{form}" for form in FORMATS)} <= written.keys()
    assert [name for name, data in written.items() if PASSWORD.encode() in data] == []
    assert [text for text in told if PASSWORD in text] == []
    assert any("***@example.com" in text for text in told)


# -- row 4: who must never be dialled


OURSELVES = (
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0X7F.0.0.1",
    "017700000001",
    "0177.0.0.1",
    "0177.0x0.0.1",
    "127.0.0.1.",
    "１２７.0.0.1",
    "127。0。0。1",
    "%31%32%37.0.0.1",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
    "0.0.0.0",
    "0",
    "[::]",
    "localhost",
    "LOCALHOST.",
)
PRIVATE = (
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "[::ffff:169.254.169.254]",
    "[fd00:ec2::254]",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "10.0.0.1",
    "192.168.1.1",
    "[fe80::1]",
    "[fc00::1]",
    "224.0.0.1",
    "255.255.255.255",
)


@pytest.mark.parametrize("obey_robots", [True, False])
@awaited
async def test_this_machine_and_its_neighbours_are_denied_however_they_are_written(app: App, obey_robots: bool) -> None:
    async with Site() as site:
        # Each with a path of its own, for many of them are the same host.
        starts = [f"http://{host}:{site.port}/{number}" for number, host in enumerate((*OURSELVES, *PRIVATE))]
        crawled = await crawl(app, site, *starts, allow_networks=(), obey_robots=obey_robots, concurrency=50)
    assert len(crawled.pages) == len(starts)
    assert {address: state for address, state in crawled.states.items() if state != "failed(denied)"} == {}
    for found in crawled.pages.values():
        assert re.match("address: .* not a public address.* --allow-network [0-9a-f.:]+/(32|128)$", found["detail"])
    assert site.hits == []


def at_addresses(site: Site) -> list[str]:
    """The addresses at which `/where` was asked for, to be filled by the site."""
    seen: list[str] = []

    async def where(call: Call) -> Reply:
        seen.append(call.writer.get_extra_info("sockname")[0])
        return page("Here")

    site.routes["/where/"] = where
    return seen


@pytest.mark.parametrize(
    "answers",
    [
        ["127.0.0.2", "127.0.0.1"],
        ["127.0.0.1", "127.0.0.2"],
        ["127.0.0.2", "::ffff:127.0.0.1"],
        ["127.0.0.2", "169.254.169.254"],
        ["127.0.0.2", "::1"],
    ],
)
@awaited
async def test_one_forbidden_answer_among_several_denies_the_name(app: App, answers: list[str]) -> None:
    async with Site() as site:
        seen = at_addresses(site)
        guard = Guard(dns=Dns(lambda _host: answers))
        url = f"http://mixed.test:{site.port}/where/"
        crawled = await crawl(guarded(app, guard), site, url, allow_networks=("127.0.0.2/32",))
    assert list(crawled.states.values()) == ["failed(denied)"]
    assert seen == []


@awaited
async def test_a_name_that_changes_its_mind_is_denied_and_never_dialled_there(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tarantella.fetchers.clients.RECHECK_SECONDS", 0.0)
    lookups: list[str] = []

    def rebinding(host: str) -> Sequence[str]:
        lookups.append(host)
        # Whoever asks once to check and once more to dial is led astray at every turn.
        return ["127.0.0.2"] if len(lookups) % 2 else ["127.0.0.1"]

    async with Site() as site:
        seen = at_addresses(site)
        guard = Guard(dns=Dns(rebinding, ttl=0.0))
        urls = [f"http://rebound.test:{site.port}/where/{number}" for number in range(6)]
        # One by one: pages that ask at the same moment share an answer.
        crawled = await crawl(
            guarded(app, guard), site, *urls, allow_networks=("127.0.0.2/32",), obey_robots=False, per_host=1
        )
    assert seen == ["127.0.0.2"] * 3
    assert sorted(crawled.states.values()) == ["done"] * 3 + ["failed(denied)"] * 3
    assert len(lookups) == 6


@awaited
async def test_a_redirect_and_a_link_into_a_private_network_are_denied(app: App) -> None:
    async with Site() as site:
        inside = f"http://2130706433:{site.port}/item/1"
        to = site.url_for(f"/redirect?to={inside}", "127.0.0.2")
        crawled = await crawl(
            app, site, to, site.url_for(f"/links?hrefs={inside}", "127.0.0.2"), depth=2, scope="any",
            allow_networks=("127.0.0.2/32",),
        )  # fmt: skip
    denied = [address for address, state in crawled.states.items() if state == "failed(denied)"]
    assert denied == ["/item/1"]
    assert {hit.hostname for hit in hits(site)} == {"127.0.0.2"}


# -- row 5: one page, not many


SPELLINGS = (
    "/p?a=1&b=2",
    "/p?b=2&a=1",
    "/p/?a=1&b=2",
    "/p?a=1&b=2#top",
    "/p?a=1&b=2#",
    "/p?a=1&b=2&",
    "/p?&a=1&&b=2",
    "/x/../p?a=1&b=2",
    "/./p?a=1&b=2",
    "/x/%2e%2e/p?a=1&b=2",
    "/p?a=1&b=2&utm_source=mail&UTM_Medium=x",
    "/p?a=1&b=2&fbclid=1&gclid=2",
    "/p?PHPSESSID=0a1b2c3d&a=1&b=2",
    "/p?a=1&b=2&sid=0123456789abcdef0123",
    "/p;jsessionid=0A1B2C?a=1&b=2",
    "\\p?a=1&b=2",
    " /p?a=1&b=2\n",
    "//127.0.0.1:{port}/p?a=1&b=2",
    "http://127.1:{port}/p?a=1&b=2",
    "HTTP://127.0.0.1:0{port}/p?a=1&b=2",
    "http://me@127.0.0.1:{port}/p?a=1&b=2",
)


@pytest.mark.parametrize("as_starts", [False, True], ids=["as links", "as start addresses"])
@awaited
async def test_one_page_is_fetched_once_however_often_and_however_it_is_written(app: App, as_starts: bool) -> None:
    async with Site() as site:

        async def index(_call: Call) -> Reply:
            return page_with_links("Index", [text.replace("{port}", str(site.port)) for text in SPELLINGS])

        site.routes |= {"/": index, "/p": site.routes["/ok"]}
        if as_starts:
            # Passwords and names are refused there, and relative addresses are hosts.
            whole = [text.replace("{port}", str(site.port)) for text in SPELLINGS if text.lower().startswith("http")]
            paths = [site.url + text for text in SPELLINGS if text.startswith("/") and not text.startswith("//")]
            starts = [text for text in whole + paths if "@" not in text]
            crawled = await crawl(app, site, *starts)
            assert crawled.run.counts.total == 1
        else:
            crawled = await crawl(app, site, "/", depth=2)
            assert crawled.run.counts.total == 2
    [hit] = hits(site, "/p") or hits(site, "/p;jsessionid=0A1B2C")
    assert hit.hostname == "127.0.0.1"
    assert crawled.status == "completed"


@awaited
async def test_what_may_be_two_pages_stays_two(app: App) -> None:
    twins = ("/p?a=1", "/p?a=2", "/P?a=1", "/p?a=1&a=1", "/p?a=%26b", "/p%2Fq", "/p/q", "/p?sid=1", "/p?sid=2")
    async with Site() as site:

        async def index(_call: Call) -> Reply:
            return page_with_links("Index", twins)

        site.routes |= {"/": index, "/p": site.routes["/ok"]}
        await crawl(app, site, "/", depth=2)
    assert sorted(asked(site)[1:]) == sorted(twins)
