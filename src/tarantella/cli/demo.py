"""`tarantella demo`: crawl a small site that the package brings along, and check what came out."""

from __future__ import annotations

import textwrap
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from tarantella.cli.command import Command, say_error
from tarantella.cli.options import AsJson, DatabaseUrl, DataDir, LogFile, Quiet, Verbose

if TYPE_CHECKING:
    from tarantella.cli.opening import Opened
    from tarantella.cli.signals import Signals

EXAMPLES = """
Examples:
  tarantella demo
  tarantella demo --data-dir /tmp/tarantella-demo
  tarantella demo --keep                   and then play with its site
  python -m tarantella.demo --port 8001    only serve its site
"""

INTRODUCTION = """\
This crawls a small newspaper on this machine, {url}
Most of its {expected.total} addresses are easy. Some are not, on purpose:
  a page that answers 503 twice, and one that says 429, come back later
  a page that takes its time, a page that has moved, a table in JSON
  a page that scripts fill, and one that refuses all but browsers,
    {browser}
  a link to nowhere, a link to a known page, a drawer that robots.txt closes
Expect {expected.done} done, {expected.failed} failed and {expected.skipped} skipped: the run ends as partial.
Retries wait {backoff:g} s here instead of 10 s, so that you don't have to.
"""

MARKET = """
Its market is empty until a script has asked for the stalls. A job whose strategy is api_replay:"""

KEPT = """
The site stays at {url} until Ctrl-C. In another terminal:
  {program} scrape {url} --depth 2 --allow-network {allow}{suffix}
  {program} scrape {url} --depth 3 --field 'ware=.offer .ware' --format csv -o - --allow-network {allow}{suffix}
  {program} preview {story} --allow-network {allow}{suffix}
Ctrl-C ends it."""
LOOK_SECONDS = 0.1

app = typer.Typer(rich_markup_mode=None)


@app.command(cls=Command, epilog=EXAMPLES)
def demo(
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the site up after the crawl, until Ctrl-C, to try things on.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    log_file: LogFile = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> int:
    """See Tarantella at work on a site of its own, in a few seconds.

    The exit code is 0 when the crawl found exactly what the site contains.
    """
    from tarantella.cli.opening import opened, run_async
    from tarantella.cli.signals import Signals
    from tarantella.fetchers.browser.finding import find_browser
    from tarantella.services.demo import BACKOFF_SECONDS, expected, serving

    opening = opened(data_dir, database_url, verbose=verbose, log_file=log_file, quiet=quiet, warnings=True)
    with Signals() as signals, opening as tarantella, serving() as url:
        wanted = expected(tarantella.app)
        missing = find_browser(tarantella.app.settings.browser).missing
        how = f"fail here: {missing}" if missing else "are tried again in one"
        tarantella.terminal.say(INTRODUCTION.format(url=url, backoff=BACKOFF_SECONDS, expected=wanted, browser=how))
        code = run_async(_demo(tarantella, signals, url, as_json))
        if keep:
            _keep_up(tarantella, signals, url)
        return code


def _keep_up(opened: Opened, signals: Signals, url: str) -> None:
    """Leave the site where it is until somebody has played enough."""
    import time

    from tarantella.cli import words
    from tarantella.demo.content import ARTICLES
    from tarantella.services.demo import NETWORK

    signals.on_first(lambda: None)  # the crawl that it would have stopped is over
    if not signals.asked:
        story = url.rstrip("/") + ARTICLES[0].path
        opened.terminal.say(
            KEPT.format(url=url, story=story, program=words.program(), allow=NETWORK, suffix=opened.suffix)
        )
    while not signals.asked:
        time.sleep(LOOK_SECONDS)


async def _demo(opened: Opened, signals: Signals, url: str, as_json: bool) -> int:
    from tarantella.cli import exits
    from tarantella.cli.foreground import drained, tell
    from tarantella.services.demo import differences, expected, spec_of
    from tarantella.services.export import Target
    from tarantella.services.submit import new_id, submit

    async def prepare(run_id: str, keeper: str) -> None:
        await submit(opened.app, spec_of(opened.app.settings), [url], run_id=run_id, keeper=keeper)

    # The site ends with this command: nobody could go on with a crawl of it.
    summary = await drained(opened, signals, new_id(), prepare, None, Target(), resumable=False)
    wrong = differences(summary.run, summary.troubles, expected(opened.app))
    code = exits.INTERRUPTED if summary.interrupted else exits.FAILED if wrong else exits.COMPLETE
    tell(opened, summary, code, as_json=as_json)
    if code == exits.FAILED:
        say_error(f"The demo did not come out as expected: {'; '.join(wrong)}. Please report this.")
    elif code == exits.COMPLETE:
        await _tell_escalations(opened, summary.run.id)
        code = await _replay(opened, signals, url)
    if code == exits.COMPLETE:
        opened.terminal.say("\nThe demo came out as expected.", style="green")
    return code


async def _tell_escalations(opened: Opened, run_id: str) -> None:
    """Which pages went on in a browser, and why."""
    from urllib.parse import urlsplit

    from tarantella.domain.event import STRATEGY_ESCALATED
    from tarantella.domain.reasons import in_words
    from tarantella.store import events

    said = await opened.app.database.read(partial(events.listed, run_id=run_id, limit=1_000))
    escalated = [event["meta"] for event in said if event["message"] == STRATEGY_ESCALATED and "url" in event["meta"]]
    if escalated:
        opened.terminal.say("\nPlain HTTP did not get these, so they went on in a browser:")
    for each in escalated:
        path, why = urlsplit(each["url"]).path, in_words(each["reason"])
        opened.terminal.say(f"  {path:<27} {why} ({each['detail']})")


async def _replay(opened: Opened, signals: Signals, url: str) -> int:
    """Collect a list twice: with a browser, which hears what the page asks for, then by asking that again."""
    import asyncio

    from tarantella.cli import exits
    from tarantella.services.demo_replay import collect_market, missing_browser
    from tarantella.services.foreground import Interrupt

    say = opened.terminal.say
    say(MARKET)
    if (missing := missing_browser(opened.app)) is not None:
        said = f"not shown, because the first run needs a browser. {missing}"
        say(textwrap.fill(said, 80, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False))
        return exits.COMPLETE
    interrupt = Interrupt()
    signals.on_first(partial(asyncio.get_running_loop().call_soon_threadsafe, interrupt.set))
    first, second = await collect_market(opened.app, url, interrupt)
    if interrupt.is_set:
        return exits.INTERRUPTED
    say(
        f"  with a browser  {first.records} records in {first.seconds:.2f} s, and a recording of what the page asked for"
    )
    say(f"  by replay       {second.records} records in {second.seconds:.2f} s, {second.same}")
    if not second.is_right:
        say_error(f"The replay did not come out as expected: {second.trouble}. Please report this.")
        return exits.FAILED
    say("  tarantella recordings list shows it.")
    return exits.COMPLETE
