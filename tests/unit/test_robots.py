"""robots.txt is asked for once, understood as far as it goes, and waited for when it can't be had."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import Awaitable, Callable

import pytest

from tarantella.domain.failure import Failure
from tarantella.domain.struct import replace
from tarantella.domain.url import Url, resolve
from tarantella.fetchers.contract import FetchError, Options
from tarantella.fetchers.guard import Guard
from tarantella.fetchers.http import HttpFetcher
from tarantella.fetchers.robots import MAX_BYTES, Robots, RobotsRules, RobotsUnreachable
from tarantella.fetchers.user_agent import default_user_agent
from tests.site import Reply, Request, Site
from tests.site.server import Robots as RobotsAnswer

UA = default_user_agent()
OPTIONS = Options(UA, allow_networks=("127.0.0.0/8",), total_timeout=5.0)
TEXT = "User-agent: *\nDisallow: /private\nCrawl-delay: 2\nSitemap: https://example.com/map.xml\n"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Setting:
    """A site, and robots that ask it."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.clock = Clock()
        self.robots = Robots(HttpFetcher(Guard()), clock=self.clock)

    async def rules(self, options: Options = OPTIONS, host: str | None = None) -> RobotsRules:
        return await self.robots.rules(self.page("/", host), options)

    async def unreachable(self, options: Options = OPTIONS) -> RobotsUnreachable:
        with pytest.raises(RobotsUnreachable) as caught:
            await self.rules(options)
        return caught.value

    def page(self, path: str, host: str | None = None) -> Url:
        return resolve(self.site.url_for(path, host))

    @property
    def asked(self) -> int:
        return sum(hit.path == "/robots.txt" for hit in self.site.hits)


def tell(answer: RobotsAnswer, story: Callable[[Setting], Awaitable[None]]) -> None:
    async def run() -> None:
        async with Site(robots=answer) as site:
            await story(Setting(site))

    asyncio.run(run())


def allows(rules: RobotsRules, path: str, agent: str = UA) -> bool:
    return rules.allowed(f"https://example.com{path}", agent)


def test_rules_are_obeyed_and_sitemaps_told() -> None:
    async def story(the: Setting) -> None:
        rules = await the.rules()
        assert allows(rules, "/")
        assert not allows(rules, "/private/page")
        assert rules.crawl_delay(UA) == 2.0
        assert not rules.clamped(UA)
        assert rules.sitemaps == ("https://example.com/map.xml",)

    tell(TEXT, story)


def test_a_group_that_names_us_counts_more_than_the_one_for_all() -> None:
    rules = RobotsRules("User-agent: *\nDisallow: /\n\nUser-agent: tarantella\nAllow: /\n")
    assert allows(rules, "/page")
    assert not allows(rules, "/page", "SomeoneElse/1.0")
    assert allows(rules, "/page", "Mozilla/5.0 (compatible; Tarantella/1.0)")


@pytest.mark.parametrize(
    "name",
    ["Tarantella/0.1", "tarantella/9", "Tarantella/0.1 (+https://example.com)", UA, "Tarantella/0.1 # a crawler"],
)
def test_a_group_that_names_us_with_a_version_means_us(name: str) -> None:
    rules = RobotsRules(f"User-agent: *\nAllow: /\n\nUser-agent: Other/1.0\nUser-Agent : {name}\nDisallow: /\n")
    assert not allows(rules, "/page")
    assert not allows(rules, "/page", "Other/2.0")
    assert allows(rules, "/page", "SomeoneElse/1.0")


def test_a_browser_s_name_is_nobody_s() -> None:
    rules = RobotsRules("User-agent: Mozilla/4.0 (compatible; Other)\nDisallow: /\n")
    assert allows(rules, "/page", "Mozilla/5.0 (compatible; Tarantella/1.0)")


def test_a_group_that_names_a_word_of_our_description_does_not_mean_us() -> None:
    assert "web" in UA
    assert allows(RobotsRules("User-agent: web\nDisallow: /\n"), "/page")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_a_file_that_is_not_to_be_had_forbids_nothing(status: int) -> None:
    async def story(the: Setting) -> None:
        assert allows(await the.rules(), "/anything")

    tell(status, story)


@pytest.mark.parametrize("status", [429, 500, 503, 599])
def test_a_server_in_trouble_forbids_everything_for_now(status: int) -> None:
    async def story(the: Setting) -> None:
        error = await the.unreachable()
        assert (error.detail, error.retry_after, error.tries) == (str(status), 7.0, 1)

    tell(Reply(status, headers=(("Retry-After", "7"),)), story)


def test_a_timeout_is_unreachable() -> None:
    async def never(request: Request) -> int:
        await asyncio.sleep(60)
        return 200

    async def story(the: Setting) -> None:
        error = await the.unreachable(Options(UA, allow_networks=("127.0.0.0/8",), total_timeout=0.2))
        assert (error.failure, error.retry_after) == (Failure.TIMEOUT, None)

    tell(never, story)


def test_a_refused_connection_is_unreachable() -> None:
    async def story(the: Setting) -> None:
        await the.site.stop()
        error = await the.unreachable()
        assert (error.failure, error.detail) == (Failure.NETWORK, "refused")

    tell(TEXT, story)


def test_a_denied_address_is_told_as_such() -> None:
    async def story(the: Setting) -> None:
        with pytest.raises(FetchError) as caught:
            await the.rules(Options(UA))
        assert caught.value.failure is Failure.DENIED
        assert the.asked == 0

    tell(TEXT, story)


def test_tries_are_counted_then_nobody_asks_for_a_while_and_a_success_forgives() -> None:
    async def story(the: Setting) -> None:
        assert [(await the.unreachable()).tries for _ in range(5)] == [1, 2, 3, 3, 3]
        assert the.asked == 3
        the.clock.now += 301
        assert (await the.unreachable()).tries == 1
        the.site.robots = TEXT
        assert not allows(await the.rules(), "/private")
        the.site.robots = 503
        the.clock.now += 6 * 3600
        assert (await the.unreachable()).tries == 1

    tell(503, story)


def test_tries_are_still_counted_when_an_hour_lies_between_them() -> None:
    async def story(the: Setting) -> None:
        for tries in (1, 2, 3):
            assert (await the.unreachable()).tries == tries
            the.clock.now += 3_600

    tell(503, story)


def test_many_who_ask_at_once_cost_one_request_and_the_rules_are_kept_for_six_hours() -> None:
    async def story(the: Setting) -> None:
        assert the.robots.known(the.page("/")) is None
        await asyncio.gather(*(the.rules() for _ in range(50)))
        the.clock.now = 6 * 3600 - 1
        await the.rules()
        assert the.robots.known(the.page("/other")) is not None
        assert the.asked == 1
        the.clock.now = 6 * 3600 + 1
        assert the.robots.known(the.page("/")) is None
        await the.rules()
        assert the.asked == 2

    tell(TEXT, story)


def test_each_origin_has_its_own_rules() -> None:
    def by_host(request: Request) -> str:
        return f"User-agent: *\nDisallow: /{'a' if request.host.startswith('127.0.0.1') else 'b'}"

    async def story(the: Setting) -> None:
        assert not allows(await the.rules(host="127.0.0.1"), "/a")
        assert not allows(await the.rules(host="127.0.0.2"), "/b")

    tell(by_host, story)


def test_a_run_that_may_not_reach_the_site_does_not_spoil_it_for_one_that_may() -> None:
    async def story(the: Setting) -> None:
        denied, allowed = await asyncio.gather(the.rules(Options(UA)), the.rules(OPTIONS), return_exceptions=True)
        assert isinstance(denied, FetchError)
        assert isinstance(allowed, RobotsRules)

    tell(TEXT, story)


def test_one_who_gives_up_does_not_take_the_answer_from_the_others() -> None:
    answer = asyncio.Event()

    async def slow(request: Request) -> str:
        await answer.wait()
        return TEXT

    async def story(the: Setting) -> None:
        first, second = (asyncio.create_task(the.rules()) for _ in range(2))
        await the.site.until(lambda: the.asked == 1)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        answer.set()
        assert not allows(await second, "/private")

    tell(slow, story)


def moved(to: str) -> Reply:
    return Reply(301, headers=(("Location", to),))


def test_redirects_are_followed_to_other_hosts() -> None:
    def by_host(request: Request) -> str | Reply:
        host, _, port = request.host.partition(":")
        number = int(host.rpartition(".")[2])
        return TEXT if number == 6 else moved(f"http://127.0.0.{number + 1}:{port}/robots.txt")

    async def story(the: Setting) -> None:
        assert not allows(await the.rules(), "/private")
        assert the.asked == 6

    tell(by_host, story)


def test_more_than_five_redirects_are_as_good_as_no_file() -> None:
    def always(request: Request) -> Reply:
        host, _, port = request.host.partition(":")
        number = int(host.rpartition(".")[2])
        return moved(f"http://127.0.0.{number % 8 + 1}:{port}/robots.txt")

    async def story(the: Setting) -> None:
        assert allows(await the.rules(), "/private")
        assert the.asked == 6

    tell(always, story)


@pytest.mark.parametrize("to", ["http://10.0.0.1/robots.txt", "file:///etc/passwd", "http://["])
def test_a_redirect_to_where_we_don_t_go_is_as_good_as_no_file(to: str) -> None:
    async def story(the: Setting) -> None:
        assert allows(await the.rules(), "/private")

    tell(moved(to), story)


def test_of_a_large_file_the_beginning_counts_and_half_a_line_does_not() -> None:
    start = "User-agent: *\nDisallow: /private\n"
    filler = "# nothing to see here\n" * ((MAX_BYTES - len(start)) // 22 - 1)
    rest = MAX_BYTES - len(start) - len(filler)
    # The limit falls right behind the slash: cut there, the rule would forbid everything.
    padding = "#" * (rest - len("\nDisallow: /"))
    text = f"{start}{filler}{padding}\nDisallow: /late\n" + "Disallow: /later\n" * 100_000

    async def story(the: Setting) -> None:
        assert len(text) > 2_000_000 // 2
        rules = await the.rules()
        assert not allows(rules, "/private")
        assert allows(rules, "/page")
        assert allows(rules, "/later")

    tell(text, story)


def test_a_compressed_bomb_is_cut_like_any_other() -> None:
    body = gzip.compress(TEXT.encode() + b"#" * 20_000_000)

    async def story(the: Setting) -> None:
        assert not allows(await the.rules(), "/private")

    tell(Reply(200, body, "text/plain", (("Content-Encoding", "gzip"),)), story)


@pytest.mark.parametrize(
    ("line", "seconds", "clamped"),
    [("1e9", 60.0, True), ("61", 60.0, True), ("60", 60.0, False), ("0.5", 0.5, False), ("-3", 0.0, False)]
    + [("soon", 0.0, False), ("nan", 0.0, False), ("-inf", 0.0, False), ("-1e400", 0.0, False)]
    + [("inf", 60.0, True), ("1e400 # s", 60.0, True), ("9" * 400, 60.0, True)],
)
def test_a_crawl_delay_is_obeyed_up_to_a_minute(line: str, seconds: float, clamped: bool) -> None:
    rules = RobotsRules(f"User-agent: *\nCrawl-delay: {line}\n")
    assert (rules.crawl_delay(UA), rules.clamped(UA)) == (seconds, clamped)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"User-agent: a{number}\n" for number in range(20_000)) + "Disallow: /x\n" * 20_000,
        "".join(f"User-agent: a{number}\n\n" for number in range(10_000)) + "Disallow: /x\n" * 20_000,
        ("".join(f"User-agent: a{number}\n" for number in range(12_000)) + "Disallow: /\n") * 3,
        "User-agent: *\n" + "".join(f"Disallow: /a*{number}\n" for number in range(40_000)),
        "User-agent: *\nDisallow: /" + "*a/" * 160_000,
    ],
    ids=["agents", "agents-apart", "agents-again", "wildcards", "one-pattern"],
)
def test_a_file_made_to_keep_us_busy_does_not(text: str) -> None:
    async def story(the: Setting) -> None:
        began = time.process_time()
        rules = await the.rules()
        rules.allowed("https://example.com/" + "a/" * 2_000, UA)
        assert time.process_time() - began < 2.0

    tell(text, story)


def test_bytes_that_are_no_text_are_no_reason_to_fail() -> None:
    async def story(the: Setting) -> None:
        assert allows(await the.rules(), "/page")

    tell(Reply(200, bytes(range(256)) * 300, "text/plain"), story)


def test_a_byte_order_mark_does_not_hide_the_first_line() -> None:
    async def story(the: Setting) -> None:
        assert not allows(await the.rules(), "/private")

    tell("\ufeff" + TEXT, story)


@pytest.mark.parametrize("word", ["Disallow", "dissalow", "Diasllow"])
def test_a_rule_is_obeyed_however_it_is_spelt(word: str) -> None:
    assert not allows(RobotsRules(f"User-agent: *\n{word}: /private"), "/private")


def test_a_dead_proxy_of_one_run_says_nothing_to_another() -> None:
    async def story(the: Setting) -> None:
        through = replace(OPTIONS, proxy="http://127.0.0.1:1", near_proxy=True)
        assert [(await the.unreachable(through)).tries for _ in range(4)] == [1, 2, 3, 3]
        assert allows(await the.rules(), "/")

    tell("User-agent: *\nAllow: /", story)
