"""`tarantella scrape`: fetch pages, follow links, keep records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from tarantella.cli import crawl_options as crawl
from tarantella.cli.command import Command
from tarantella.cli.options import (
    AsJson,
    DatabaseUrl,
    DataDir,
    Engines,
    FailOnOption,
    LogFile,
    Output,
    Quiet,
    RecordFormat,
    Verbose,
)

if TYPE_CHECKING:
    from tarantella.cli.foreground import Ending
    from tarantella.cli.opening import Opened
    from tarantella.cli.signals import Signals
    from tarantella.domain.spec import Spec


EXAMPLES = """
Examples:
  tarantella scrape example.com                        one page
  tarantella scrape example.com --depth 2              and the pages it links to
  tarantella scrape example.com --depth all --max-pages 500 --exclude '*/tag/*'
  tarantella scrape shop.example --depth 2 --field price --field 'size=.size'
  tarantella scrape --sitemap https://example.com/sitemap.xml
  tarantella scrape --urls-file urls.txt --output - | jq .title
"""

app = typer.Typer(rich_markup_mode=None)


@app.command(cls=Command, epilog=EXAMPLES)
def scrape(
    urls: crawl.Urls = None,
    urls_file: crawl.UrlsFile = None,
    depth: crawl.Depth = "1",
    max_pages: crawl.MaxPages = None,
    scope: crawl.Scope = "host",
    include: crawl.Include = None,
    exclude: crawl.Exclude = None,
    sitemap: crawl.Sitemap = None,
    trap_limit: crawl.TrapLimit = None,
    no_traps: crawl.NoTraps = False,
    concurrency: crawl.Concurrency = None,
    per_host: crawl.PerHost = None,
    delay: crawl.Delay = 0.0,
    timeout_minutes: crawl.TimeoutMinutes = None,
    timeout_seconds: crawl.TimeoutSeconds = None,
    attempts: crawl.Attempts = None,
    backoff: crawl.Backoff = 10.0,
    ignore_robots: crawl.IgnoreRobots = False,
    user_agent: crawl.UserAgent = None,
    header: crawl.Header = None,
    cookies_file: crawl.CookiesFile = None,
    no_cookies: crawl.NoCookies = False,
    proxy: crawl.Proxy = None,
    ca_file: crawl.CaFile = None,
    allow_network: crawl.AllowNetwork = None,
    strategy: crawl.Strategy = "auto",
    wait_for: crawl.WaitFor = None,
    scroll: crawl.Scroll = None,
    load_more: crawl.LoadMore = None,
    screenshot: crawl.Screenshot = False,
    keep_html: crawl.KeepHtml = False,
    browser_file: crawl.BrowserFile = None,
    session: crawl.Session = None,
    text: crawl.Text = "fast",
    field: crawl.Field = None,
    fields_file: crawl.FieldsFile = None,
    keep_bodies: crawl.KeepBodies = False,
    cache: crawl.Cache = False,
    cache_dir: crawl.CacheDir = None,
    cache_ttl: crawl.CacheTtl = None,
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
    durability: crawl.Durability = None,
    priority: crawl.Priority = "medium",
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
