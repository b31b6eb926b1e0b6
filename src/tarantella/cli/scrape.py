"""`tarantella scrape`: fetch pages, follow links, keep records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tarantella.cli.command import Command
from tarantella.cli.options import (
    RUNNING,
    AsJson,
    DatabaseUrl,
    DataDir,
    Engines,
    FailOnOption,
    LogFile,
    Output,
    PriorityName,
    Quiet,
    RecordFormat,
    StrategyName,
    Verbose,
)

if TYPE_CHECKING:
    from tarantella.cli.foreground import Ending
    from tarantella.cli.opening import Opened
    from tarantella.cli.signals import Signals
    from tarantella.domain.spec import Spec


WHAT = "What to fetch"
PACE = "How fast, how long, how stubborn"
IDENTITY = "Who we are and what we may reach"
BROWSER = "In a browser"
KEEP = "What to keep of each page"
DEVELOPMENT = "While you develop"

EXAMPLES = """
Examples:
  tarantella scrape example.com                        one page
  tarantella scrape example.com --depth 2              and the pages it links to
  tarantella scrape example.com --depth all --max-pages 500 --exclude '*/tag/*'
  tarantella scrape shop.example --depth 2 --field price --field 'size=.size'
  tarantella scrape --sitemap https://example.com/sitemap.xml
  tarantella scrape --urls-file urls.txt --output - | jq .title
"""

Scope = Literal["host", "domain", "path", "any"]
TextMode = Literal["fast", "article", "none"]
Durability = Literal["normal", "full"]

app = typer.Typer(rich_markup_mode=None)


@app.command(cls=Command, epilog=EXAMPLES)
def scrape(
    urls: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[URL]...",
            help="Where to start; `example.com` means https, `localhost:8000` http.",
            show_default=False,
        ),
    ] = None,
    urls_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|-",
            help="Addresses to start from, one a line; `-` is stdin. Blanks and # lines are ignored.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    depth: Annotated[
        str,
        typer.Option(
            metavar="N|all",
            help="1 is the page itself, 2 adds the pages it links to, and so on.",
            rich_help_panel=WHAT,
        ),
    ] = "1",
    max_pages: Annotated[
        int | None, typer.Option(metavar="N", help="Pages in the run at most.", rich_help_panel=WHAT)
    ] = None,
    scope: Annotated[
        Scope,
        typer.Option(
            metavar="host|domain|path|any",
            help="Which links belong to the run: same host, same registered domain, same folder, any.",
            rich_help_panel=WHAT,
        ),
    ] = "host",
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Follow only links whose whole address matches.", rich_help_panel=WHAT),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Don't follow links whose whole address matches.", rich_help_panel=WHAT),
    ] = None,
    sitemap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="auto|URL",
            help="Also fetch what a sitemap lists. `auto` reads those that robots.txt names, else /sitemap.xml.",
            show_default="none",
            rich_help_panel=WHAT,
        ),
    ] = None,
    trap_limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N|off",
            help="When links are taken for a trap without end.",
            show_default="length=2000, folders=20, repeats=3, dates=5000, combinations=1000, queries=100000",
            rich_help_panel=WHAT,
        ),
    ] = None,
    no_traps: Annotated[
        bool, typer.Option("--no-traps", help="Follow links however endless they look.", rich_help_panel=WHAT)
    ] = False,
    concurrency: Annotated[
        int | None,
        typer.Option(metavar="N", help="Requests in flight at the same time.", rich_help_panel=PACE),
    ] = None,
    per_host: Annotated[
        int | None,
        typer.Option(metavar="N", help="Of them to one host at most; it starts with one.", rich_help_panel=PACE),
    ] = None,
    delay: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Pause between two requests to one host.",
            show_default="0",
            rich_help_panel=PACE,
        ),
    ] = 0.0,
    timeout_minutes: Annotated[
        float | None,
        typer.Option(metavar="MINUTES", help="End the run after so long.", show_default="never", rich_help_panel=PACE),
    ] = None,
    timeout_seconds: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="The same in seconds; both are added.",
            show_default="never",
            rich_help_panel=PACE,
        ),
    ] = None,
    attempts: Annotated[
        int | None,
        typer.Option(metavar="N", help="Requests for one page in all, the first included.", rich_help_panel=PACE),
    ] = None,
    backoff: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Wait before the second attempt; three times as long before each next one, 300 s at most.",
            show_default="10",
            rich_help_panel=PACE,
        ),
    ] = 10.0,
    ignore_robots: Annotated[
        bool,
        typer.Option("--ignore-robots", help="Fetch what robots.txt asks us to leave.", rich_help_panel=IDENTITY),
    ] = False,
    user_agent: Annotated[
        str | None, typer.Option(metavar="TEXT", help="How we introduce ourselves.", rich_help_panel=IDENTITY)
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'NAME: VALUE'",
            help="Send this header to the hosts of the start addresses.",
            rich_help_panel=IDENTITY,
        ),
    ] = None,
    cookies_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Cookies to send: a cookies.txt in Netscape format.",
            rich_help_panel=IDENTITY,
        ),
    ] = None,
    no_cookies: Annotated[
        bool,
        typer.Option(
            "--no-cookies",
            help="Forget the cookies that sites set, instead of sending them back for the rest of the run.",
            rich_help_panel=IDENTITY,
        ),
    ] = False,
    proxy: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Fetch through this proxy: http, https or socks5, as in http://user:password@host:3128.",
            rich_help_panel=IDENTITY,
        ),
    ] = None,
    ca_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Certificates to trust, as well as the system's.", rich_help_panel=IDENTITY),
    ] = None,
    allow_network: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CIDR",
            help="Allow a private network, as in 10.0.0.0/8 or 127.0.0.1.",
            rich_help_panel=IDENTITY,
        ),
    ] = None,
    strategy: Annotated[
        StrategyName,
        typer.Option(
            metavar="auto|http|browser|api_replay",
            help="How to fetch. http asks over plain HTTP, and goes on in a browser where a page is refused; auto also where one "
            "is empty until its scripts run, or the site has taught so. browser runs the scripts of every page, which costs "
            "fifty times as much. api_replay is for jobs, whose runs leave recordings.",
            rich_help_panel=BROWSER,
        ),
    ] = "auto",
    wait_for: Annotated[
        str | None,
        typer.Option(
            metavar="CSS",
            help="In a browser: read a page when something matches this.",
            show_default="when its network is quiet",
            rich_help_panel=BROWSER,
        ),
    ] = None,
    scroll: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="In a browser: scroll to the end of a page, so often at most, while that brings more.",
            show_default="0",
            rich_help_panel=BROWSER,
        ),
    ] = None,
    load_more: Annotated[
        str | None,
        typer.Option(
            metavar="CSS",
            help="In a browser: click this while it is there, 20 times at most.",
            show_default="none",
            rich_help_panel=BROWSER,
        ),
    ] = None,
    screenshot: Annotated[
        bool,
        typer.Option(
            "--screenshot",
            help="In a browser: keep a picture of each page; see `runs artifacts`.",
            rich_help_panel=BROWSER,
        ),
    ] = False,
    keep_html: Annotated[
        bool,
        typer.Option(
            "--keep-html",
            help="In a browser: keep the HTML of each page as its scripts left it; see `runs artifacts`.",
            rich_help_panel=BROWSER,
        ),
    ] = False,
    browser_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="All of this and actions, in YAML or JSON; what is filled in by `secret` is taken from the environment.",
            rich_help_panel=BROWSER,
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="In a browser: the login that `tarantella sessions import` has stored.",
            rich_help_panel=BROWSER,
        ),
    ] = None,
    text: Annotated[
        TextMode,
        typer.Option(
            metavar="fast|article|none",
            help="The main text of each page: quickly, or with more care as that of an article, with author and date; or none.",
            rich_help_panel=KEEP,
        ),
    ] = "fast",
    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=CSS[@ATTR]]",
            help="A field of each record: the text of what the selector finds, or an attribute of it. "
            "A name alone, like price, is found by itself.",
            rich_help_panel=KEEP,
        ),
    ] = None,
    fields_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Fields in YAML or JSON, with types, XPath, JMESPath, lists and more.",
            rich_help_panel=KEEP,
        ),
    ] = None,
    keep_bodies: Annotated[
        bool,
        typer.Option("--keep-bodies", help="Keep each response in the database, compressed.", rich_help_panel=KEEP),
    ] = False,
    cache: Annotated[
        bool,
        typer.Option(
            "--cache",
            help="Keep answers in DATA_DIR/cache, and take them from there in later runs without asking the site.",
            rich_help_panel=DEVELOPMENT,
        ),
    ] = False,
    cache_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Like --cache, in this folder.", rich_help_panel=DEVELOPMENT),
    ] = None,
    cache_ttl: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="How long answers are fresh; after that the site is asked whether they have changed.",
            show_default="for ever",
            rich_help_panel=DEVELOPMENT,
        ),
    ] = None,
    format_: RecordFormat = None,
    output: Output = None,
    fail_on: FailOnOption = "partial",
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    log_file: LogFile = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engines: Engines = None,
    durability: Annotated[
        Durability | None,
        typer.Option(
            metavar="normal|full",
            help="`full` waits for the disk at every commit: results survive a power cut, not only a crash. PostgreSQL always does.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    priority: Annotated[
        PriorityName,
        typer.Option(
            metavar="critical|high|medium|low",
            help="Which run goes first when more are wanted than may run.",
            rich_help_panel=RUNNING,
        ),
    ] = "medium",
) -> int:
    """Fetch pages, follow their links, and write what was found.

    Each page becomes one record. After Ctrl-C the run goes on with `tarantella runs resume`.
    """
    from tarantella.cli import inputs
    from tarantella.cli.foreground import Ending
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.signals import Signals
    from tarantella.domain.errors import InvalidInput
    from tarantella.domain.job import Wish, wished
    from tarantella.domain.run import Priority
    from tarantella.domain.scope import ScopeKind
    from tarantella.domain.sitemap import AUTO, chosen
    from tarantella.domain.spec import Field, Spec
    from tarantella.domain.url import start_url
    from tarantella.services.export import target_of
    from tarantella.services.specs import usual

    sitemaps = tuple(map(chosen, sitemap or ()))
    wanted = inputs.field_set_of_file(fields_file)
    browsing = inputs.browsing_of(
        browser_file,
        wait_for=wait_for,
        scroll=scroll,
        load_more=load_more,
        screenshot=screenshot or None,
        keep_html=keep_html or None,
    )
    if not urls and urls_file is None and not any(each != AUTO for each in sitemaps):
        raise InvalidInput(
            "There is no address to start from.",
            remedy="Give one, as in `tarantella scrape example.com`, or --urls-file, or the address of a --sitemap.",
            field="urls",
        )
    for url in urls or ():
        start_url(url)
    with (
        Signals() as signals,
        opened(data_dir, database_url, verbose=verbose, log_file=log_file, quiet=quiet, warnings=True) as tarantella,
    ):
        settings = tarantella.app.settings
        said = usual(
            settings,
            max_pages=max_pages,
            concurrency=concurrency,
            per_host=per_host,
            attempts=attempts,
            user_agent=user_agent,
            allow_networks=(*settings.allow_networks, *(allow_network or ())),
            durable=durability == "full" if durability is not None else None,
        )
        spec = Spec(
            **said,
            depth=inputs.depth_of(depth),
            delay=delay,
            deadline_seconds=inputs.deadline_of(timeout_minutes, timeout_seconds),
            backoff=inputs.backoff_of(backoff),
            scope=ScopeKind(scope),
            include=tuple(include or ()),
            exclude=tuple(exclude or ()),
            sitemaps=sitemaps,
            traps=inputs.trap_limits_of(trap_limit or (), none=no_traps),
            obey_robots=not ignore_robots,
            ca_file=inputs.ca_file_of(ca_file),
            cache_dir=inputs.cache_dir_of(settings, cache_dir, cache_ttl, wanted=cache),
            cache_ttl=cache_ttl,
            text=text,
            fields=(*wanted.fields, *(Field.parse(each) for each in field or ())),
            item=wanted.item,
            pagination=wanted.pagination,
            keep_bodies=keep_bodies,
            keep_cookies=not no_cookies,
            browser=browsing,
            session=session,
            priority=Priority[priority.upper()],
            secrets=inputs.secrets_of(header or (), cookies_file, proxy, browsing.secrets),
        )
        if session is not None:
            from tarantella.services import sessions

            sessions.check(tarantella.app, session)
        spec = wished(spec, Wish(strategy))
        target = target_of(tarantella.app, format_, output, stdout_taken=as_json, not_to=urls_file)
        starts = inputs.start_addresses(urls or (), urls_file, lambda: signals.asked)
        ending = Ending(target, fail_on, as_json)
        return run_async(_scrape(tarantella, signals, spec, starts, engines, ending))


async def _scrape(
    opened: Opened, signals: Signals, spec: Spec, starts: Iterator[str], engines: int | None, ending: Ending
) -> int:
    from tarantella.cli import exits
    from tarantella.cli.foreground import work
    from tarantella.cli.inputs import Stopped
    from tarantella.services.submit import new_id, submit

    async def prepare(run_id: str, keeper: str) -> None:
        await submit(opened.app, spec, starts, run_id=run_id, keeper=keeper)

    try:
        return await work(opened, signals, new_id(), prepare, engines, ending)
    except Stopped:
        opened.terminal.say("Stopped while the addresses were read; no run was started.")
        return exits.INTERRUPTED
